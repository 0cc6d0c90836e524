"""Flags that a framework is known to break on."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

known_faults = importlib.import_module("verify.checks.framework_faults")


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
    check = known_faults.check(context("theano", version="3.0"))
    assert (check.status, check.detail) == ("skip", "none of this version")


UNTIL, SECOND = "the gradient of a scan that ends by `until`", "second derivatives of a scan"
PROD, STRIDES = "prod(s * x, axis=...)", "a product in C with an array of numpy.broadcast_to"
BROADCAST = "the gradient of an array of length 1 that is broadcast"
PSI, TRI_GAMMA = "psi and tri_gamma in C are 0", "tri_gamma in C is 0"
SET, INC = "set_subtensor(x[i], y)[i] is y", "inc_subtensor(zeros[i], y)[i] is y"


@pytest.mark.parametrize(
    ("name", "version", "faults"),
    [
        ("theano", "0.8.2", (UNTIL, SECOND, PROD, STRIDES, PSI, SET, INC)),
        ("theano", "1.0.5", (UNTIL, SECOND, PROD, STRIDES, PSI, SET)),
        ("theano", "1.1.2", (UNTIL, SECOND, PROD, STRIDES, PSI, SET)),
        ("aesara", "2.8.7", (UNTIL, SECOND, BROADCAST, PROD, STRIDES, PSI, SET)),
        ("aesara", "2.9.3", (UNTIL,)),
        # Of versions between those that were tried nothing is known.
        ("theano", "1.0.4", ()),
        ("aesara", "2.8.8", ()),
        ("pytensor", "2.38.3", (UNTIL, SECOND, STRIDES, TRI_GAMMA, SET)),
        ("pytensor", "3.3.7", (STRIDES, TRI_GAMMA, SET)),
        ("pytensor", "3.3.8", ()),
    ],
)
def test_wrong_results_of_a_version_are_named(
    name: str, version: str, faults: tuple[str, ...]
) -> None:
    check = known_faults.check(context(name, version=version))
    lines = check.detail.replace("none of this version", "").splitlines()
    if len(lines) > 1:
        assert lines.pop(0) == f"{len(lines)} of this version, and what to do instead"
    lines = [line for line in lines if "amdlibm is off" not in line]
    assert [line[: len(fault)] for line, fault in zip(lines, faults, strict=True)] == list(faults)
    assert all(": " in line for line in lines)
    assert check.status != "fail"


def test_a_flag_that_is_off_passes_with_the_fault_named() -> None:
    check = known_faults.check(context("pytensor"))
    assert check.status == "pass"
    assert check.detail.splitlines()[1].startswith(
        "lib__amdlibm is off: PyTensor cannot compile exp"
    )


def test_a_flag_that_breaks_the_framework_fails_with_its_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTENSORRC", str(tmp_path / "rc"))
    (tmp_path / "rc").write_text("[lib]\namdlibm = True\n")
    check = known_faults.check(context("pytensor", "lib__amdlibm=True", value=True))
    assert check.status == "fail"
    assert check.fix == (
        "remove lib__amdlibm=True from PYTENSOR_FLAGS\n"
        f"remove from {tmp_path}/rc:\n[lib]\namdlibm = True"
    )
