"""PyTensor's linkers, each in a process of its own."""

import importlib
import json
import os
from types import SimpleNamespace
from typing import Any

import pytest

linkers = importlib.import_module("verify.checks.compile_time")
FRAMEWORK = SimpleNamespace(
    name="pytensor", flags_variable="PYTENSOR_FLAGS", rc_variable="PYTENSORRC", rc_file="~/.rc"
)
DETAIL = "linker=numba fails: Traceback\nImportError: no LLVM"
CONTEXT = SimpleNamespace(framework=FRAMEWORK, folder="/compiled", expectation=None, user_flags="")


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give what the process of each linker prints; JAX is not installed."""
    monkeypatch.setenv("PYTENSOR_FLAGS", "floatX=float32")
    monkeypatch.setattr(linkers, "is_installed", lambda module: module == "numba")
    printed = {
        "cvm": json.dumps({"compile": 6.0, "step": [2e-5], "peak": 217e6, "value": -1.5}),
        "numba": json.dumps({"compile": 30.0, "step": [1e-5], "peak": 547e6, "value": -1.5}),
    }

    def call(command: list[str], seconds: float, environment: dict[str, str]) -> Any:
        linker = command[-1]
        flags = f"floatX=float32,base_compiledir=/compiled/{linker}"
        assert environment["PYTENSOR_FLAGS"] == flags
        return SimpleNamespace(output=printed[linker], timed_out=False, status=0)

    monkeypatch.setattr(linkers.process, "call", call)
    return printed


def test_each_linker_has_its_compile_time_step_and_memory(outputs: dict[str, str]) -> None:
    check, timings = linkers.linkers(CONTEXT)
    assert check.status == "pass"
    assert check.detail == "cvm and numba compute the same value; not installed: jax"
    assert [(item.name, item.median, item.unit) for item in timings] == [
        ("model, cvm: compile and first call", 6.0, "s"),
        ("model, cvm: step", pytest.approx(20000), "ns"),
        ("model, cvm: peak memory", 217, "MB"),
        ("model, numba: compile and first call", 30.0, "s"),
        ("model, numba: step", pytest.approx(10000), "ns"),
        ("model, numba: peak memory", 547, "MB"),
    ]
    assert os.environ["PYTENSOR_FLAGS"] == "floatX=float32"


def test_linkers_that_differ_fail_with_both_values(outputs: dict[str, str]) -> None:
    outputs["numba"] = outputs["numba"].replace("-1.5", "-1.6")
    check, timings = linkers.linkers(CONTEXT)
    assert (check.status, len(timings)) == ("fail", 6)
    assert check.detail == "their values differ: cvm -1.5, numba -1.6"
    assert check.fix == "put these lines into ~/.rc:\n[global]\nlinker = cvm"


@pytest.mark.parametrize(
    ("value", "status"),
    [
        # One unit in the last place, and on the other side of a rounding to nine digits.
        ("1.0000000005000002", "pass"),
        ("1.0000000005005", "pass"),
        ("1.000000000502", "fail"),
        ("1.00000006", "fail"),
        ("NaN", "fail"),
    ],
)
def test_values_may_differ_by_rounding_alone(
    value: str, status: str, outputs: dict[str, str]
) -> None:
    outputs["cvm"] = outputs["cvm"].replace("-1.5", "1.0000000005")
    outputs["numba"] = outputs["numba"].replace("-1.5", value)
    assert linkers.linkers(CONTEXT)[0].status == status


def test_a_linker_that_breaks_fails_with_the_end_of_its_output(outputs: dict[str, str]) -> None:
    outputs["numba"] = "Traceback\nImportError: no LLVM"
    check, timings = linkers.linkers(CONTEXT)
    assert (check.status, check.detail, len(timings)) == ("fail", DETAIL, 3)
    assert check.fix.startswith("install it again:\n") and check.fix.endswith(" numba")
