"""The library whose array functions compiled loops call."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

libm = suite_module("elementwise.libm")
bindings = suite_module("blas.bindings")

REPAIR = "put the files back:\n./invoke build --variant v --framework f --repair"
COMPAT = libm.MathLibrary(libm.COMPAT, "amdlibm-compat 1.0 (not AMD's), AVX2", "/lib/x.so")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "THEANORC", "HOME"):
        monkeypatch.delenv(name, raising=False)


def environment(
    monkeypatch: pytest.MonkeyPatch, called: object = COMPAT, *, is_on: bool = True, **more: Any
) -> SimpleNamespace:
    """Return the context of an environment whose compiled modules call a library."""
    where = context(**more)
    flags = {"lib.amdlibm": is_on, "compiledir": "/compiled", "gcc.cxxflags": "-O3", "cxx": "g++"}
    where.framework.amdlibm_flag = "lib.amdlibm"
    where.framework.flag = flags.get
    monkeypatch.setattr(libm, "_run", lambda context, name: None)
    monkeypatch.setattr(bindings, "modules_below", lambda folder: ["/compiled/m.so"])
    calls = [bindings.Binding("/compiled/m.so", "amd_vrsa_expf", "/lib/x.so")] if called else []
    monkeypatch.setattr(bindings, "bindings_of", lambda modules, symbols: calls)
    monkeypatch.setattr(libm, "identify", lambda path: called)
    return where


def expectation(flag: str = "True", *packages: str) -> dict[str, Any]:
    return {
        "variant": "v",
        "framework": "f",
        "flags": {"lib.amdlibm": flag},
        "packages": [{"name": name} for name in packages],
    }


def test_a_flag_that_is_off_fails_only_where_it_is_expected_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert libm.check(environment(monkeypatch, is_on=False)).status == "skip"
    where = environment(monkeypatch, is_on=False, expectation=expectation("False"))
    assert libm.check(where).status == "skip"
    where = environment(monkeypatch, is_on=False, expectation=expectation())
    check = libm.check(where)
    assert check.status == "fail"
    assert check.detail.startswith("lib.amdlibm is off (")
    assert libm.called(where) is None


def test_compiled_modules_that_call_nothing_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    check = libm.check(environment(monkeypatch, None, expectation=expectation()))
    assert check.detail.startswith("the compiled exp calls none of the array functions")
    assert check.fix == REPAIR


def test_the_library_has_to_be_the_environments_own(monkeypatch: pytest.MonkeyPatch) -> None:
    check = libm.check(environment(monkeypatch, expectation=expectation()))
    assert check.status == "fail"
    assert f"expected amdlibm-compat in {Path(sys.prefix).resolve()}/; found" in check.detail
    own = COMPAT._replace(path=f"{Path(sys.prefix).resolve()}/lib/x.so")
    assert libm.check(environment(monkeypatch, own, expectation=expectation())).status == "pass"
    where = environment(monkeypatch, own, expectation=expectation("True", "amdlibm"))
    assert "expected AMD LibM in" in libm.check(where).detail


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("x.c:1: fatal error: amdlibm.h: No such file", "the compiler finds no header amdlibm.h"),
        ("ld: cannot find -lamdlibm", "the linker or the loader finds no libamdlibm.so"),
        ("libamdlibm.so: cannot open", "the linker or the loader finds no libamdlibm.so"),
        ("x.c:1: error: odd", "RuntimeError: x.c:1: error: odd"),
    ],
)
def test_the_reason_why_exp_does_not_compile(
    error: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(context: object, name: str) -> None:
        raise RuntimeError(error)

    where = environment(monkeypatch, expectation=expectation())
    monkeypatch.setattr(libm, "_run", run)
    check = libm.check(where)
    assert (check.detail, check.fix) == (f"exp does not compile: {reason}", REPAIR)


@pytest.mark.parametrize(
    ("symbols", "status", "detail"),
    [
        (["amd_tanhf", "_ZGVdN8v_amd_tanhf"], "pass", "tanh calls _ZGVdN8v_amd_tanhf"),
        (["amd_tanhf"], "fail", "tanh calls amd_tanhf"),
        (["tanhf"], "fail", "tanh calls the C library's function"),
    ],
)
def test_vector_functions_in_fused_loops(
    symbols: list[str], status: str, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = environment(monkeypatch)
    monkeypatch.setattr(libm.bindings, "imports", lambda path: dict.fromkeys(symbols))
    check = libm.check_loops(where)
    assert (check.status, check.detail) == (status, detail)


def test_only_amdlibm_compat_has_vector_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    where = environment(monkeypatch, COMPAT._replace(name=libm.AMDS))
    assert libm.check_loops(where).status == "skip"
    assert libm.check_loops(environment(monkeypatch, is_on=False)).status == "skip"


@pytest.mark.parametrize(
    ("data", "name"), [(b"\0AOCL-LibM 4.2\0", libm.AMDS), (b"\0", libm.UNKNOWN)]
)
def test_identify_by_the_version_text(
    data: bytes, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "libamdlibm.so").write_bytes(data)
    monkeypatch.setattr(bindings, "loaded", lambda path: SimpleNamespace())
    assert libm.identify(str(path)).name == name


def check(monkeypatch: pytest.MonkeyPatch, name: str, errors: dict[str, float]) -> Any:
    library = libm.MathLibrary(name, "a library", "/lib/x.so")
    monkeypatch.setattr(libm, "called", lambda context: library)
    monkeypatch.setattr(bindings, "loaded", lambda path: SimpleNamespace(**errors))
    monkeypatch.setattr(libm, "largest_error", lambda error, symbol: (error, "0.5"))
    where = context()
    where.framework.amdlibm_flag = "lib.amdlibm"
    return libm.check_accuracy(where)


def test_the_largest_error_of_all_functions_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {"amd_vrsa_expf": 0.25, "amd_vrda_log": 0.75, "unknown": 9.0}
    found = check(monkeypatch, libm.COMPAT, errors)
    assert found.status == "pass"
    assert found.detail == "at most 0.75 ULP (amd_vrda_log at 0.5), 20000 samples each"


@pytest.mark.parametrize(("name", "status"), [(libm.COMPAT, "fail"), (libm.AMDS, "pass")])
def test_the_allowed_error_depends_on_the_library(
    name: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = check(monkeypatch, name, {"amd_vrsa_expf": 3.5})
    assert found.status == status
    assert "3.5" in found.detail


def test_without_a_called_library_it_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libm, "called", lambda context: None)
    assert libm.check_accuracy(None).status == "skip"
