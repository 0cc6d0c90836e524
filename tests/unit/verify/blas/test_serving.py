"""The libraries that calls of loaded modules end in: which they are, and whether there is one.

tests/integration/test_fixes.py and test_verify_faults.py break these in real environments.
"""

import _ctypes
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import REPAIR, context
from verify.blas import bindings, library, serving
from verify.core import fixes

CTYPES = os.path.realpath(_ctypes.__file__)


@pytest.mark.parametrize(
    ("leads_back", "is_defined", "found"),
    [
        (False, False, "libffi"),
        # Bound lazily and not called yet: the loader knows it. Or it is the module's own function.
        (True, False, "libffi"),
        (True, True, None),
    ],
)
def test_the_library_that_a_call_ends_in(
    leads_back: bool, is_defined: bool, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if leads_back:
        monkeypatch.setattr(bindings, "imports", lambda path: {"ffi_call": [(0, is_defined)]})
        first = [CTYPES]
        file_of: Any = bindings.file_of
        monkeypatch.setattr(bindings, "file_of", lambda at: first.pop() if first else file_of(at))
    libraries = [each.library for each in bindings.bindings_of([CTYPES], ("ffi_call",))]
    assert [Path(path).name.partition(".")[0] for path in libraries] == [found] * bool(found)


def test_modules_that_are_not_loaded_or_not_elf_have_no_bindings(tmp_path: Path) -> None:
    text = next(path for path in bindings.mapped_files() if not path.endswith(".so"))
    assert bindings.bindings_of(["/nowhere.so", text], ("no_such_symbol",)) == []
    assert bindings.bindings_of_package("not_imported") == []
    assert CTYPES in bindings.modules_below(str(Path(CTYPES).parent))
    for data in (b"", b"not an object", b"\x7fELF\x02\x01" + b"\0" * 40):
        (tmp_path / "file.so").write_bytes(data)
        with pytest.raises(ValueError, match=r"file\.so is no ELF64 shared object"):
            bindings.imports(str(tmp_path / "file.so"))


SCIPYS = {
    "scipy_openblas_get_config64_": b"OpenBLAS 0.3.31 DYNAMIC_ARCH Zen MAX_THREADS=64",
    "scipy_openblas_get_corename64_": b"Zen",
    "scipy_openblas_get_num_threads64_": 4,
}
OLD = {"openblas_get_config": b"NO_AFFINITY USE64BITINT", "blas_threads_adapt": 1}
SKX = {"bli_arch_query_id": 2, "bli_arch_string": b"skx", "bli_thread_get_num_threads": -1}
VERSION = {"bli_info_get_version_str": b"0.9.0"}


class Function:
    """A C function of a library, as ctypes has it."""

    restype: Any = None

    def __init__(self, result: object) -> None:
        self.result = result

    def __call__(self, *arguments: object) -> object:
        return self.result


# data: of a file that hides its symbols.
@pytest.mark.parametrize(
    ("results", "data", "fields", "text"),
    [
        (SCIPYS, b"", ("openblas", "0.3.31", "Zen", 4, 64, None), "0.3.31 (Zen kernels, 4 threads"),
        (OLD, b"", ("openblas", None, None, None, None, 1), "openblas (libblas.so.3)"),
        (
            {**VERSION, **SKX},
            b"",
            ("blis", "0.9.0", "skx", 1),
            "blis 0.9.0 (skx kernels, 1 thread,",
        ),
        ({**VERSION, "blis_zen5_installed": 1}, b"", ("blis", "0.9.0", "zen5", 1), "zen5 kernels"),
        ({"ATL_buildinfo": 0}, b"", ("atlas", None, None, None), "atlas"),
        ({"armplversion": 0}, b"", ("armpl", None, None, None), "armpl"),
        ({}, b"\0libblis\0", ("blis", None, None, None), "blis"),
        ({}, b"\0OpenBLAS\0", ("openblas", None, None, None), "openblas"),
        ({}, b"\0", (library.UNKNOWN, None, None, None), "reference or unknown (libblas.so.3)"),
    ],
)
def test_a_library_is_known_by_its_symbols(
    results: dict[str, object],
    data: bytes,
    fields: tuple[object, ...],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (path := tmp_path / "libblas.so.3").write_bytes(data)
    handle = SimpleNamespace(**{name: Function(result) for name, result in results.items()})
    monkeypatch.setattr(bindings, "loaded", lambda path: handle)
    found = library.identify(str(path))
    assert found == library.Library(*(*fields[:4], str(path), *fields[4:]))
    assert text in library.describe(found)


def test_behind_a_front_is_the_file_that_has_the_librarys_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {("/lib/libblas_threads.so.1", "openblas_get_config"): "/lib/libopenblas.so"}
    monkeypatch.setattr(bindings, "loaded", lambda path: path)
    monkeypatch.setattr(bindings, "file_with", lambda handle, name: files.get((handle, name)))
    assert library.behind("/lib/libblas_threads.so.1") == "/lib/libopenblas.so"
    assert library.behind("/lib/libx.so") == "/lib/libx.so"


def mkl(name: str, version: str = "2024.0", folder: Path = Path("/lib")) -> Any:
    return library.Library("mkl", version, None, 2, f"{folder}/{name}", None, None)


def test_the_parts_of_one_mkl_are_merged_into_libmkl_rt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openblas = library.Library("openblas", "0.3", None, 2, "/lib/x.so", None, None)
    parts = [mkl("libmkl_core.so.2"), mkl("libmkl_rt.so.2"), openblas]
    assert library.merged(parts) == [openblas, mkl("libmkl_rt.so.2")]
    assert library.merged([openblas]) == [openblas]
    different = [mkl("libmkl_rt.so.2"), mkl("libmkl_core.so.2", "2025.0")]
    assert library.merged(different) == different
    # Linked without the libmkl_rt beside them, as Intel's link advisor has it: it is not loaded.
    (tmp_path / "libmkl_rt.so.2").touch()
    parts = [mkl(f"libmkl_{name}.so.2", folder=tmp_path) for name in ("intel_lp64", "core")]
    assert library.merged(parts) == parts[:1]
    assert library.is_part(parts[0]) and not library.is_part(mkl("libmkl_rt.so.2"))
    # Only a part has been bound.
    monkeypatch.setattr(library, "identify", lambda path: mkl(Path(path).name))
    assert library.merged(parts[1:]) == [mkl("libmkl_rt.so.2")]


COMPILED, NUMPY = "/compiled/module.so", "/site-packages/numpy/core.so"
LOCKED = {"variant": "v", "framework": "f"}
OPENBLAS = {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]}
EXPECTED, BASELINE = {**LOCKED, "blas": OPENBLAS}, {**LOCKED, "blas": None}
ALONE = {**LOCKED, "blas": {**OPENBLAS, "alone": True}}
FLAGS = {"compiledir": "/compiled", "cxx": "g++", "blas.ldflags": ""}
LIB, NP, OTHER = "/lib/libopenblas.so", "/np/libx.so", "/x/libotherblas.so"
OWN, BLIS, BY_NUMPY = (COMPILED, LIB), (COMPILED, "/lib/libblis.so"), (NUMPY, "/l/x.so")


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every file be an OpenBLAS, and those below /front/ fronts of those below /lib/."""
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "THEANORC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fixes.packages, "link_flags", lambda: ["-lopenblas"])
    monkeypatch.setattr(library, "behind", lambda path: path.replace("/front/", "/lib/"))
    monkeypatch.setattr(library, "identify", identified)


def identified(path: str) -> Any:
    name = library.UNKNOWN if "libblas.so" in path else "openblas"
    return library.Library(name, "1", None, None, path, None, None)


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("calls", "expectation", "status", "detail"),
    [
        ([OWN], None, "pass", "openblas 1 (libopenblas.so); scipy uses openblas 1 (libx.so)"),
        ([(COMPILED, "/lib/libblas.so")], None, "fail", "not known as a library with fast kernels"),
        ([BY_NUMPY], None, "fail", "openblas 1 (x.so), through NumPy"),
        ([(NUMPY, "/l/libblas.so")], None, "fail", "not known as a library with fast kernels"),
        ([BY_NUMPY], EXPECTED, "fail", "expected openblas (libopenblas*); found openblas 1 (x.so)"),
        ([], None, "fail", "neither the framework's modules nor NumPy's call any BLAS library"),
        ([OWN, BLIS], None, "fail", "more than one: "),
        ([OWN], EXPECTED, "pass", "openblas 1 (libopenblas.so)"),
        ([BLIS], EXPECTED, "fail", "expected openblas (libopenblas*); found openblas 1 (libblis"),
        ([BY_NUMPY], BASELINE, "pass", "openblas 1 (x.so), through NumPy"),
        ([OWN], BASELINE, "fail", "this is not the baseline: openblas 1"),
    ],
)
def test_the_library_that_products_call(
    calls: list[tuple[str, str]],
    expectation: object,
    status: str,
    detail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = [bindings.Binding(module, "dgemm_", path) for module, path in calls]
    called = {
        "numpy": [each for each in made if each.module == NUMPY],
        "scipy": [bindings.Binding("/scipy.so", "dgemm_", "/sp/libx.so")],
    }
    own = [each for each in made if each.module == COMPILED]
    compiled = SimpleNamespace(fix=None)
    monkeypatch.setattr(serving.blas_operations, "compiled", lambda *_: compiled)
    monkeypatch.setattr(bindings, "bindings_of", lambda modules: own)
    monkeypatch.setattr(bindings, "bindings_of_package", called.get)
    found = serving.check(context(FLAGS, has_ldflags=True, expectation=expectation))
    assert found.status == status and detail in found.detail
    assert bool(found.fix) is (status == "fail")
    if status == "fail" and [each.module for each in made] == [NUMPY]:
        # What keeps products from being compiled is the fault.
        compiled.fix = "ulimit -n"
        again = serving.check(context(FLAGS, has_ldflags=True, expectation=expectation))
        assert again.fix == "ulimit -n"


def test_the_linker_ignores_a_folder_that_is_not_there(tmp_path: Path) -> None:
    flags = {"blas.ldflags": "-L/none/none -L/tmp -lm", "cxx": "cc"}
    found = serving.check_ldflags(context(flags, folder=str(tmp_path), is_baseline=False))
    assert found.status == "pass"
    assert found.detail.endswith("-lm; the linker ignores what does not exist: /none/none")
    # Another fault than that of the flags has its own fix.
    (tmp_path / "c++").write_text(
        "#!/bin/sh\necho 'ld: cannot open x: Too many open files'; exit 1\n"
    )
    (tmp_path / "c++").chmod(0o755)
    flags["cxx"] = str(tmp_path / "c++")
    found = serving.check_ldflags(context(flags, folder=str(tmp_path), is_baseline=False))
    assert found.status == "fail" and re.search("ulimit -n|container", found.fix)


THEANOS, TWO = {LIB: ["theano"]}, {LIB: ["theano"], NP: ["numpy"]}
SEVERAL = "2 libraries, each with threads of its own: numpy: openblas"
FRONT = "/front/libopenblas.so"


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("callers", "expectation", "mapped", "status", "detail"),
    [
        ({}, None, (), "skip", "nothing calls a BLAS product"),
        # A front and the library behind it are one.
        ({LIB: ["theano"], FRONT: ["numpy"]}, ALONE, (), "pass", ""),
        (THEANOS, ALONE, (FRONT, "/lib/libc.so"), "pass", ""),
        # Several fail only where one is expected, and so does one that nothing calls.
        (TWO, None, (), "pass", SEVERAL),
        (TWO, ALONE, (), "fail", SEVERAL),
        (THEANOS, EXPECTED, (OTHER,), "pass", "theano: openblas 1 (libopenblas.so)"),
        (THEANOS, ALONE, (OTHER,), "fail", "called by nobody: openblas 1 (libotherblas.so)"),
    ],
)
def test_one_library_is_there(
    callers: dict[str, list[str]],
    expectation: object,
    mapped: tuple[str, ...],
    status: str,
    detail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "callers_of_libraries", lambda context: dict(callers))
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: dict.fromkeys(mapped, 0))
    monkeypatch.setattr(serving.bindings, "defining", lambda path: "blas" in path)
    found = serving.check_one_blas(context(FLAGS, expectation=expectation))
    assert found.status == status and detail in found.detail
    assert ("nobody" in found.detail) is ("nobody" in detail)
    # As the checks of files and versions have it: one fault is one row.
    assert found.fix == (REPAIR if status == "fail" else None)


@pytest.mark.usefixtures("libraries")
def test_a_library_that_numba_loads_when_it_compiles_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mapped: dict[str, int] = {}
    monkeypatch.setattr(serving.speed, "by_numba", lambda *_: mapped.update({OTHER: 0}))
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: mapped)
    monkeypatch.setattr(serving.bindings, "defining", lambda path: True)
    where = context(FLAGS)
    assert serving.uncalled(where, [LIB]) == []
    where.framework.runs_numba = True
    assert serving.uncalled(where, [LIB]) == [OTHER]
