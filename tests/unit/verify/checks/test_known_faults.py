"""Flags that a framework is known to break on."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

known_faults = importlib.import_module("verify.checks.versions")


def context(
    name: str, flags: str = "", value: bool = False, version: str = "3.3.7"
) -> SimpleNamespace:
    framework = SimpleNamespace(
        name=name,
        version=version,
        amdlibm_flag="lib.amdlibm",
        flags_variable=f"{name.upper()}_FLAGS",
        rc_variable="PYTENSORRC",
        rc_file=f"~/.{name}rc",
        spelled=lambda flag: flag.replace(".", "__"),
        flag={"lib.amdlibm": value}.get,
    )
    return SimpleNamespace(framework=framework, expectation=None, user_flags=flags)


def test_a_framework_without_known_faults_is_skipped() -> None:
    check = known_faults.check_faults(context("theano", version="3.0"))
    assert (check.status, check.detail) == ("skip", "none of this version")


@pytest.mark.parametrize(
    ("name", "version", "is_wrong"),
    [
        ("theano", "0.8.2", True),
        ("theano", "1.0.5", True),
        ("theano", "1.1.2", True),
        ("aesara", "2.8.7", True),
        ("pytensor", "2.38.3", True),
        ("pytensor", "3.3.8", False),
    ],
)
def test_wrong_results_of_a_version_are_named(name: str, version: str, is_wrong: bool) -> None:
    check = known_faults.check_faults(context(name, version=version))
    assert ("the gradient of a scan that ends by `until` is wrong: " in check.detail) is is_wrong
    assert check.status != "fail"


def test_a_flag_that_is_off_passes_with_the_fault_named() -> None:
    check = known_faults.check_faults(context("pytensor"))
    assert check.status == "pass"
    assert check.detail.startswith("lib__amdlibm is off: PyTensor cannot compile exp")


def test_a_flag_that_breaks_the_framework_fails_with_its_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTENSORRC", str(tmp_path / "rc"))
    (tmp_path / "rc").write_text("[lib]\namdlibm = True\n")
    check = known_faults.check_faults(context("pytensor", "lib__amdlibm=True", value=True))
    assert check.status == "fail"
    assert check.fix == (
        "remove lib__amdlibm=True from PYTENSOR_FLAGS\n"
        f"remove from {tmp_path}/rc:\n[lib]\namdlibm = True"
    )
