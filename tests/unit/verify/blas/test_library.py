"""BLAS libraries, identified by their symbols."""

from pathlib import Path
from typing import Any

import pytest

from unit.helpers.suite import suite_module

bindings = suite_module("blas.bindings")
library = suite_module("blas.library")


class Function:
    """A C function of a library, as ctypes has it."""

    restype: Any = None

    def __init__(self, result: object) -> None:
        self.result, self.calls = result, 0

    def __call__(self, *arguments: object) -> object:
        self.calls += 1
        return self.result


class Handle:
    """A loaded library with these functions."""

    def __init__(self, **results: object) -> None:
        for name, result in results.items():
            setattr(self, name, Function(result))


SCIPYS = {
    "scipy_openblas_get_config64_": b"OpenBLAS 0.3.31 DYNAMIC_ARCH Zen MAX_THREADS=64",
    "scipy_openblas_get_corename64_": b"Zen",
    "scipy_openblas_get_num_threads64_": 4,
}
OLD = {"openblas_get_config": b"NO_AFFINITY USE64BITINT", "blas_threads_adapt": 1}
SKX = {"bli_arch_query_id": 2, "bli_arch_string": b"skx", "bli_thread_get_num_threads": -1}
VERSION = {"bli_info_get_version_str": b"0.9.0"}


# data: of a file that hides its symbols.
@pytest.mark.parametrize(
    ("results", "data", "fields"),
    [
        (SCIPYS, b"", ("openblas", "0.3.31", "Zen", 4, 64, None)),
        (OLD, b"", ("openblas", None, None, None, None, 1)),
        ({**VERSION, **SKX}, b"", ("blis", "0.9.0", "skx", 1)),
        ({**VERSION, "blis_zen5_installed": 1}, b"", ("blis", "0.9.0", "zen5", 1)),
        ({"ATL_buildinfo": 0}, b"", ("atlas", None, None, None)),
        ({"armplversion": 0}, b"", ("armpl", None, None, None)),
        ({}, b"\0libblis\0", ("blis", None, None, None)),
        ({}, b"\0OpenBLAS\0", ("openblas", None, None, None)),
        ({}, b"\0", (library.UNKNOWN, None, None, None)),
    ],
)
def test_identify_by_symbols(
    results: dict[str, object],
    data: bytes,
    fields: tuple[object, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (path := tmp_path / "libblas.so.3").write_bytes(data)
    monkeypatch.setattr(bindings, "loaded", lambda path: Handle(**results))
    found = library.identify(str(path))
    assert found == library.Library(*fields[:4], str(path), *fields[4:])


def test_describe_with_and_without_details() -> None:
    full = library.Library("openblas", "0.3.34", "Zen", 1, "/lib/libopenblas.so")
    assert library.describe(full) == "openblas 0.3.34 (Zen kernels, 1 thread, libopenblas.so)"
    assert library.describe(full._replace(threads=8)).endswith("8 threads, libopenblas.so)")


def mkl(name: str, version: str = "2024.0") -> Any:
    return library.Library("mkl", version, None, 2, f"/lib/{name}")


def test_behind_a_front_is_the_file_that_has_the_librarys_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {("/lib/libblas_threads.so.1", "openblas_get_config"): "/lib/libopenblas.so"}
    monkeypatch.setattr(bindings, "loaded", lambda path: path)
    monkeypatch.setattr(bindings, "file_with", lambda handle, name: files.get((handle, name)))
    assert library.behind("/lib/libblas_threads.so.1") == "/lib/libopenblas.so"
    assert library.behind("/lib/libx.so") == "/lib/libx.so"


def test_the_parts_of_one_mkl_are_merged_into_libmkl_rt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openblas = library.Library("openblas", "0.3", None, 2, "/lib/x.so")
    parts = [mkl("libmkl_core.so.2"), mkl("libmkl_rt.so.2"), openblas]
    assert library.merged(parts) == [openblas, mkl("libmkl_rt.so.2")]
    assert library.merged([openblas]) == [openblas]
    different = [mkl("libmkl_rt.so.2"), mkl("libmkl_core.so.2", "2025.0")]
    assert library.merged(different) == different
    # Only a part has been bound: libmkl_rt lies beside it.
    (tmp_path / "libmkl_rt.so.2").touch()
    monkeypatch.setattr(library, "identify", lambda path: mkl(Path(path).name))
    part = mkl("core")._replace(path=str(tmp_path / "libmkl_core.so.2"))
    assert library.merged([part]) == [mkl("libmkl_rt.so.2")]
    assert library.is_part(part) and not library.is_part(mkl("libmkl_rt.so.2"))


def test_parts_of_mkl_that_were_linked_without_the_libmkl_rt_beside_them(tmp_path: Path) -> None:
    """As Intel's link advisor has it."""
    (tmp_path / "libmkl_rt.so.2").touch()
    parts = [
        mkl(name)._replace(path=str(tmp_path / f"libmkl_{name}.so.2"))
        for name in ("intel_lp64", "core")
    ]
    assert library.merged(parts) == parts[:1]
