"""The library whose array functions compiled loops call."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import REPAIR, context

libm = suite_module("elementwise.libm")
bindings = suite_module("blas.bindings")

PREFIX = Path(sys.prefix).resolve()
COMPAT = libm.MathLibrary(libm.COMPAT, "amdlibm-compat 1.0 (not AMD's), AVX2", "/lib/x.so")
OWN = COMPAT._replace(path=f"{PREFIX}/lib/x.so")
AMDS = libm.MathLibrary(libm.AMDS, libm.AMDS, "/lib/x.so")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "THEANORC", "HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the function that returns a context whose compiled modules call a library, or none.

    is_on: whether the flag is; expected: what the expectation has for it; error: of a compilation.
    """

    def made(
        called: Any = COMPAT,
        *packages: str,
        is_on: bool = True,
        expected: str | None = None,
        error: str | None = None,
    ) -> Any:
        def run(context: object, name: str) -> None:
            if error:
                raise RuntimeError(error)

        calls = [bindings.Binding("/compiled/m.so", "amd_vrsa_expf", "/lib/x.so")]
        monkeypatch.setattr(libm, "_run", run)
        monkeypatch.setattr(bindings, "modules_below", lambda folder: ["/compiled/m.so"])
        monkeypatch.setattr(bindings, "bindings_of", lambda *_: calls if called else [])
        monkeypatch.setattr(libm, "identify", lambda path: called)
        names = [{"name": name} for name in packages]
        locked: dict[str, Any] = {"variant": "v", "framework": "f", "packages": names}
        locked["flags"] = {"lib.amdlibm": expected}
        flags = {"lib.amdlibm": is_on, "compiledir": "/compiled", "cxx": "g++"}
        where = context({**flags, "gcc.cxxflags": "-O3"}, expectation=locked if expected else None)
        where.framework.amdlibm_flag = "lib.amdlibm"
        return where

    return made


NO_HEADER, NO_LIBRARY = (
    "the compiler finds no header amdlibm.h",
    "the linker or the loader finds no",
)


@pytest.mark.parametrize(
    ("is_on", "expected", "is_checked"),
    [(False, None, False), (True, None, True), (False, "False", False), (False, "True", True)],
)
def test_the_library_is_checked_where_it_is_expected(
    is_on: bool, expected: str | None, is_checked: bool, environment: Any
) -> None:
    assert libm.is_expected(environment(is_on=is_on, expected=expected)) is is_checked


@pytest.mark.parametrize(
    ("called", "options", "status", "detail"),
    [
        ([COMPAT], {"is_on": False, "expected": "True"}, "fail", "lib.amdlibm is off ("),
        (
            [None],
            {"expected": "True"},
            "fail",
            "the compiled exp calls none of the array functions",
        ),
        # The library has to be the environment's own.
        ([COMPAT], {}, "pass", "amdlibm-compat 1.0 (not AMD's), AVX2, x.so"),
        ([COMPAT], {"expected": "True"}, "fail", f"expected amdlibm-compat in {PREFIX}/; found"),
        ([OWN], {"expected": "True"}, "pass", "amdlibm-compat 1.0"),
        ([OWN, "amdlibm"], {"expected": "True"}, "fail", "expected AMD LibM in"),
        # The reason why exp does not compile.
        *(
            ([COMPAT], {"expected": "True", "error": error}, "fail", f"exp does not compile: {why}")
            for error, why in (
                ("x.c:1: fatal error: amdlibm.h: No such file", NO_HEADER),
                ("ld: cannot find -lamdlibm", f"{NO_LIBRARY} libamdlibm.so"),
                ("libamdlibm.so: cannot open", f"{NO_LIBRARY} libamdlibm.so"),
                ("x.c:1: error: odd", "RuntimeError: x.c:1: error: odd"),
            )
        ),
    ],
)
def test_the_library_that_exp_calls(
    called: list[Any], options: dict[str, Any], status: str, detail: str, environment: Any
) -> None:
    check = libm.check(environment(*called, **options))
    assert check.status == status and check.detail.startswith(detail)
    assert check.fix == (REPAIR if status == "fail" else None)


@pytest.mark.parametrize(
    ("called", "is_on", "symbols", "status", "detail"),
    [
        (
            COMPAT,
            True,
            ["amd_tanhf", "_ZGVdN8v_amd_tanhf"],
            "pass",
            "tanh calls _ZGVdN8v_amd_tanhf",
        ),
        (COMPAT, True, ["amd_tanhf"], "fail", "tanh calls amd_tanhf"),
        (COMPAT, True, ["tanhf"], "fail", "tanh calls the C library's function"),
        (COMPAT, False, [], "skip", "only amdlibm-compat has functions for them"),
        (AMDS, True, [], "skip", "only amdlibm-compat has functions for them"),
    ],
)
def test_vector_functions_in_fused_loops(
    called: Any,
    is_on: bool,
    symbols: list[str],
    status: str,
    detail: str,
    environment: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bindings, "imports", lambda path: dict.fromkeys(symbols))
    check = libm.check_loops(environment(called, is_on=is_on))
    assert (check.status, check.detail) == (status, detail)


@pytest.mark.parametrize(
    ("data", "name"), [(b"\0AOCL-LibM 4.2\0", libm.AMDS), (b"\0", libm.UNKNOWN)]
)
def test_identify_by_the_version_text(
    data: bytes, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "libamdlibm.so").write_bytes(data)
    monkeypatch.setattr(bindings, "loaded", lambda path: SimpleNamespace())
    assert libm.identify(str(path)).name == name


WORST = "at most 0.75 ULP (amd_vrda_log at 0.5), 20000 samples each"
OFF = f"{COMPAT.detail} is off by 3.5 ULP (amd_vrsa_expf at 0.5); 1.0 are allowed"
MANY = {"amd_vrsa_expf": 0.25, "amd_vrda_log": 0.75, "unknown": 9.0}


@pytest.mark.parametrize(
    ("called", "errors", "status", "detail"),
    [
        (COMPAT, MANY, "pass", WORST),
        # The allowed error depends on the library.
        (COMPAT, {"amd_vrsa_expf": 3.5}, "fail", OFF),
        (AMDS, {"amd_vrsa_expf": 3.5}, "pass", "at most 3.50 ULP (amd_vrsa_expf at 0.5)"),
        (None, {}, "skip", "no array function is called"),
    ],
)
def test_the_largest_error_of_all_functions_counts(
    called: Any,
    errors: dict[str, float],
    status: str,
    detail: str,
    environment: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bindings, "loaded", lambda path: SimpleNamespace(**errors))
    monkeypatch.setattr(libm, "largest_error", lambda error, symbol: (error, "0.5"))
    found = libm.check_accuracy(environment(called))
    assert found.status == status and found.detail.startswith(detail)
