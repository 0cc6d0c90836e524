"""What the plugin of pytest says of a report; tests/integration/test_verify_wheel.py runs it."""

import importlib
import sys

import pytest

from unit.helpers.verification import document, report

plugin = importlib.import_module("verify.pytest_plugin")
FAILED = (
    report.failed("kernels", "Nehalem", "unset it"),
    report.failed(
        "blas.ldflags", "empty", "put these lines into ~/.theanorc:\n[blas]\nldflags = -lx"
    ),
    report.skipped("scan in C", "no scan"),
    report.passed("threads", "2 threads"),
)


def test_a_report_without_failures_passes() -> None:
    assert plugin.failure(document(*FAILED[2:])) is None


def test_checks_that_failed_are_shown_with_their_fixes() -> None:
    assert plugin.failure(document(*FAILED)) == (
        f"{sys.executable} does not use a fast BLAS: 2 of 4 checks failed "
        "(python -m blas_verify shows all)\n"
        "kernels: Nehalem\n"
        "  fix: unset it\n"
        "blas.ldflags: empty\n"
        "  fix: put these lines into ~/.theanorc:\n"
        "    [blas]\n"
        "    ldflags = -lx"
    )


def test_checks_may_be_left_out_by_their_names() -> None:
    assert plugin.failure(document(*FAILED), ["kernels", "blas.ldflags"]) is None
    assert plugin.failure(document(*FAILED), without=["kernels"]).count("fix:") == 1


@pytest.mark.parametrize("without", [["kernel"], "kernels"])
def test_a_name_that_no_check_has_fails(without: object) -> None:
    message = plugin.failure(document(*FAILED[2:]), without)
    assert message.endswith("\n  fix: take one of scan in C, threads")
    assert "no check of blas-verify has this name" in message


def test_a_suite_that_cannot_run_fails_with_its_message() -> None:
    assert plugin.failure("this Python has no NumPy") == "this Python has no NumPy"
