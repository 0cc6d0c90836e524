"""What the plugin of pytest says of a report; tests/integration/test_verify_wheel.py runs it."""

import importlib

import pytest

from unit.helpers.verification import document, report

plugin = importlib.import_module("verify.pytest_plugin")
CHECKS = (report.failed("kernels", "Nehalem", "unset\nit"), report.skipped("scan in C", "no scan"))


@pytest.mark.parametrize(
    ("content", "without", "message"),
    [
        (document(*CHECKS), (), "shows all)\nkernels: Nehalem\n  fix: "),
        (document(*CHECKS), ["kernels"], None),
        (document(*CHECKS), ["kernel"], "no check of blas-verify has this name\n  fix: take one"),
        (document(*CHECKS), "kernels", "no check of blas-verify has this name"),
        ("this Python has no NumPy", (), "this Python has no NumPy"),
    ],
)
def test_why_a_report_fails_a_test(content: object, without: object, message: str | None) -> None:
    found = plugin.failure(content, without)
    assert found == message or (message and message in found)
