"""The kernels that a library uses, the fix where better ones exist, the measured peak."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

kernels = suite_module("blas.kernels")
library = suite_module("blas.library")

AVX512 = "avx512f avx512bw avx512cd avx512dq avx512vl"
ZEN5 = f"sse2 avx avx2 fma {AVX512}"


@pytest.fixture(autouse=True)
def zen5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.machine, "cpu_field", {"flags": ZEN5}.get)
    monkeypatch.setattr(kernels, "behind", lambda path: path)
    for name in (*kernels.VARIABLES.values(), *kernels.MKL_VARIABLES):
        monkeypatch.delenv(name, raising=False)


def context(name: str, kernel: str | None, path: Path | str = "/lib/x.so", part: float = 0.45):  # type: ignore[no-untyped-def]
    return SimpleNamespace(
        serving=library.Library(name, "1.0", kernel, 2, str(path)),
        peaks={"float64": {1: 100.0, 2: 200.0}, "float32": {1: 200.0, 2: 400.0}},
        alone={"float64": 100 * part, "float32": 190.0},
        is_baseline=False,
        advice=[],
    )


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("sse2", "SSE2"),
        ("sse2 avx", "AVX"),
        ("sse2 avx avx2", "AVX"),
        ("sse2 avx avx2 fma avx512f", "AVX2"),
        (ZEN5, "AVX-512"),
    ],
)
def test_the_best_instruction_set_of_a_processor(flags: str, level: str) -> None:
    assert kernels.LEVELS[kernels.level(flags.split())][0] == level


@pytest.mark.parametrize(
    ("name", "kernel"), [("openblas", "SkylakeX"), ("openblas", "Cooperlake"), ("blis", "skx")]
)
def test_kernels_for_the_best_instruction_set_pass(name: str, kernel: str) -> None:
    found = kernels.check(context(name, kernel, part=0.1))
    assert (found.status, found.detail) == ("pass", f"{kernel}, for AVX-512")


def test_the_variable_that_selects_the_kernels_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLIS_ARCH_TYPE", "0")
    assert kernels.check(context("blis", "skx")).detail == "skx, for AVX-512, by BLIS_ARCH_TYPE=0"
    assert kernels.check(context("openblas", "SkylakeX")).detail == "SkylakeX, for AVX-512"


def test_slow_kernels_fail_and_the_fix_is_a_command(tmp_path: Path) -> None:
    (path := tmp_path / "lib.so").write_bytes(b"\0Haswell\0SkylakeX\0")
    found = kernels.check(context("openblas", "Haswell", path))
    assert found.status == "fail"
    assert found.detail == (
        "Haswell, for AVX2, where this processor has AVX-512: Gemm reaches 45 % of a "
        "processor's peak"
    )
    assert found.fix == "set this before Python starts:\nexport OPENBLAS_CORETYPE=SkylakeX"


def test_kernels_of_the_library_behind_a_front_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (front := tmp_path / "front.so").write_bytes(b"")
    (path := tmp_path / "lib.so").write_bytes(b"SkylakeX")
    monkeypatch.setattr(kernels, "behind", {str(front): str(path)}.get)
    assert kernels.check(context("openblas", "Haswell", front)).fix.endswith("=SkylakeX")


@pytest.mark.parametrize(("kernel", "status"), [("Nehalem", "fail"), ("Haswell", "skip")])
def test_without_a_peak_only_kernels_that_must_be_slow_fail(
    kernel: str, status: str, tmp_path: Path
) -> None:
    (path := tmp_path / "lib.so").write_bytes(b"SkylakeX")
    given = context("openblas", kernel, path)
    given.peaks = {}
    assert kernels.check(given).status == status
    given.is_baseline = True
    assert kernels.check(given).status == "skip"


def test_a_library_without_better_kernels(tmp_path: Path) -> None:
    (path := tmp_path / "lib.so").write_bytes(b"\0Haswell\0")
    assert kernels.check(context("openblas", "Barcelona", path)).fix == (
        "this library has no kernels for AVX-512: install a newer one"
    )


def test_a_variable_that_selects_slow_kernels_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert kernels.check(context("openblas", "Haswell")).fix == (
        "OPENBLAS_CORETYPE=Haswell selects these kernels:\nunset OPENBLAS_CORETYPE"
    )


def test_other_kernels_pass_where_gemm_is_fast() -> None:
    """AMD's Zen 4 computes AVX-512 in two halves."""
    found = kernels.check(context("openblas", "Haswell", part=0.9))
    assert found.status == "pass"
    assert "where this processor has AVX-512: Gemm reaches 90 %" in found.detail


def test_mkls_kernels_pass_as_they_cannot_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["/x/lib/libmkl_core.so.3", "/x/lib/libmkl_def.so.3"]
    monkeypatch.setattr(kernels.bindings, "mapped_files", lambda: files)
    given = context("mkl", None)
    found = kernels.check(given)
    assert given.advice == [
        "MKL reaches 45 % of this processor's peak: OpenBLAS and BLIS are faster here"
    ]
    assert found.status == "pass"
    assert found.detail.startswith(
        "def, for AVX2, where this processor has AVX-512: Gemm reaches 45"
    )
    assert found.detail.endswith("MKL has no better ones for it, OpenBLAS and BLIS do")


@pytest.mark.parametrize("variable", ["MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR"])
def test_a_variable_that_selects_slow_kernels_of_mkl_is_named(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels.bindings, "mapped_files", lambda: ["/x/lib/libmkl_avx2.so.3"])
    monkeypatch.setenv(variable, "AVX2")
    # AMD's processors have one set of kernels beside that for all.
    assert kernels.check(context("mkl", None)).status == "pass"
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    assert kernels.check(context("mkl", None)).fix.endswith("\nunset MKL_CBWR")
    monkeypatch.delenv("MKL_CBWR")
    monkeypatch.setenv(variable, "AVX2")
    fields = {"flags": ZEN5, "vendor_id": "GenuineIntel"}
    monkeypatch.setattr(kernels.machine, "cpu_field", fields.get)
    given = context("mkl", None)
    found = kernels.check(given)
    assert (found.status, given.advice) == ("fail", [])
    assert found.fix == f"{variable}=AVX2 selects these kernels:\nunset {variable}"
    assert kernels.fix_if_slower(given.serving) == found.fix
    monkeypatch.delenv(variable)
    assert kernels.fix_if_slower(given.serving) is None
    monkeypatch.setenv(variable, "AVX2")
    assert kernels.check(context("mkl", None, part=0.9)).status == "pass"


@pytest.mark.parametrize(("files", "part"), [("avx512", 0.85), ("def", 0.8)])
def test_a_fast_mkl_gives_no_advice(
    monkeypatch: pytest.MonkeyPatch, files: str, part: float
) -> None:
    monkeypatch.setattr(kernels.bindings, "mapped_files", lambda: [f"/x/lib/libmkl_{files}.so.3"])
    given = context("mkl", None, part=part)
    assert (kernels.check(given).status, given.advice) == ("pass", [])


def test_slow_kernels_of_a_baseline_pass() -> None:
    slow = context("openblas", "Barcelona")
    slow.is_baseline = True
    found = kernels.check(slow)
    assert found.status == "pass"
    assert found.detail.endswith("the other variants are compared with this")


def test_without_a_peak_a_library_or_a_name_of_kernels_it_is_skipped() -> None:
    nothing = context("openblas", "Haswell")
    nothing.peaks = {}
    assert kernels.check(nothing).status == "skip"
    nothing.serving = None
    assert kernels.check(nothing).status == "skip"
    assert kernels.check(context("reference or unknown", None)).status == "skip"


def test_there_is_no_fix_without_better_kernels() -> None:
    assert kernels.fix_if_slower(context("openblas", "SkylakeX").serving) is None
    assert kernels.fix_if_slower(context("mkl", None).serving) is None
    assert kernels.fix_if_slower(context("reference or unknown", None).serving) is None
    assert kernels.fix_if_slower(None) is None


class Kernels:
    """A processor without AVX-512, whose other rates double with each instruction set."""

    def best_rate(self, single: int, isa: int, *_: Any) -> float:
        return 0.0 if isa == 3 else 1e9 * 2**isa * (1 + single)


def test_the_best_instruction_set_counts_on_all_threads_together() -> None:
    assert kernels.peak_rate(Kernels(), "float64", 1) == 4.0
    assert kernels.peak_rate(Kernels(), "float32", 3) == 24.0


def test_the_kernels_compile_and_run(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    assert (
        kernels.peak_rate(kernels.load_peak("g++", str(tmp_path)), "float64", 1, seconds=0.001)
        > 0.01
    )
