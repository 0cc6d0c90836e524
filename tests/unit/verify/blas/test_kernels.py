"""The kernels that a library uses, the fix where better ones exist, the measured peak."""

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
    monkeypatch.setattr(library, "behind", lambda path: path)
    for name in (*kernels.VARIABLES.values(), *kernels.MKL_VARIABLES):
        monkeypatch.delenv(name, raising=False)


def context(name: str, kernel: str | None, path: Path | str = "/lib/x.so", part: float = 0.45):  # type: ignore[no-untyped-def]
    return SimpleNamespace(
        serving=library.Library(name, "1.0", kernel, 2, str(path)),
        peaks={"float64": {1: 100.0, 2: 200.0}, "float32": {1: 200.0, 2: 400.0}},
        alone={"float64": 100 * part, "float32": 190.0},
        reasons={"float64": []},
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


BEHIND = "Haswell, for AVX2, where this processor has AVX-512"
CORETYPE = "set this before Python starts:\nexport OPENBLAS_CORETYPE=SkylakeX"
NO_BETTER = "this library has no kernels for AVX-512: install a newer one"
SELECTED = "OPENBLAS_CORETYPE=Haswell selects these kernels:\nunset OPENBLAS_CORETYPE"
MKL = "def, for AVX2, where this processor has AVX-512: Gemm reaches 45 % of a processor's peak"
ADVICE = ["MKL reaches 45 % of this processor's peak: OpenBLAS and BLIS are faster here"]
UNSET, INTEL = "selects these kernels:\nunset MKL_", {"vendor_id": "GenuineIntel"}
COMPARED = "; the other variants are compared with this"


# The kernels in the library's file are `has`; of MKL `has` is the file that is loaded.
@pytest.mark.parametrize(
    ("name", "kernel", "has", "changes", "status", "detail", "fix"),
    [
        ("openblas", "SkylakeX", "", {"part": 0.1}, "pass", "SkylakeX, for AVX-512", None),
        ("openblas", "Cooperlake", "", {"part": 0.1}, "pass", "Cooperlake, for AVX-512", None),
        ("blis", "skx", "", {"part": 0.1}, "pass", "skx, for AVX-512", None),
        # The variable that selects the kernels is named.
        ("blis", "skx", "", {"BLIS_ARCH_TYPE": "0"}, "pass", ", by BLIS_ARCH_TYPE=0", None),
        ("openblas", "SkylakeX", "", {"BLIS_ARCH_TYPE": "0"}, "pass", "AVX-512", None),
        ("openblas", "Haswell", "", {"OPENBLAS_CORETYPE": "Haswell"}, "fail", "45 %", SELECTED),
        # Slow kernels fail, and the fix is a command.
        ("openblas", "Haswell", "Haswell SkylakeX", {}, "fail", BEHIND, CORETYPE),
        ("openblas", "Barcelona", "Haswell", {}, "fail", "for SSE2, where", NO_BETTER),
        ("openblas", "Barcelona", "", {"is_baseline": True}, "pass", COMPARED, None),
        # AMD's Zen 4 computes AVX-512 in two halves.
        ("openblas", "Haswell", "", {"part": 0.9}, "pass", f"{BEHIND}: Gemm reaches 90 %", None),
        # Without a peak only kernels that must be slow fail.
        ("openblas", "Nehalem", "SkylakeX", {"peaks": {}}, "fail", "AVX-512", CORETYPE),
        ("openblas", "Haswell", "SkylakeX", {"peaks": {}}, "skip", "the cost is unknown", None),
        ("openblas", "Nehalem", "", {"peaks": {}, "is_baseline": True}, "skip", "unknown", None),
        ("openblas", "Haswell", "", {"serving": None}, "skip", "no library was found", None),
        ("reference or unknown", None, "", {}, "skip", "does not report its kernels", None),
        # MKL's kernels pass as they cannot be changed.
        ("mkl", None, "def", {"advice": ADVICE}, "pass", MKL, None),
        ("mkl", None, "def", {"advice": ADVICE}, "pass", "OpenBLAS and BLIS do", None),
        ("mkl", None, "def", {"reasons": {"float64": ["steal"]}}, "pass", "45 %", None),
        ("mkl", None, "avx512", {"part": 0.85}, "pass", "avx512, for AVX-512", None),
        ("mkl", None, "def", {"part": 0.8}, "pass", "Gemm reaches 80 %", None),
        # AMD's processors have one set of kernels beside that for all; Intel's have several.
        ("mkl", None, "avx2", {"MKL_CBWR": "AVX2", "advice": ADVICE}, "pass", "avx2, for", None),
        ("mkl", None, "avx2", {"MKL_CBWR": "COMPATIBLE"}, "fail", "avx2, for SSE2", UNSET),
        ("mkl", None, "avx2", {"MKL_CBWR": "AVX2", **INTEL}, "fail", "by MKL_CBWR=AVX2", UNSET),
        ("mkl", None, "avx2", {"MKL_ENABLE_INSTRUCTIONS": "AVX2", **INTEL}, "fail", "avx2", UNSET),
        ("mkl", None, "avx2", {"MKL_CBWR": "AVX2", **INTEL, "part": 0.9}, "pass", "90 %", None),
    ],
)
def test_the_kernels_of_a_library(
    name: str,
    kernel: str | None,
    has: str,
    changes: dict[str, Any],
    status: str,
    detail: str,
    fix: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (path := tmp_path / "lib.so").write_bytes(has.encode())
    monkeypatch.setattr(kernels.bindings, "mapped_files", lambda: [f"/x/libmkl_{has}.so.3"])
    for variable in [variable for variable in changes if variable.isupper()]:
        monkeypatch.setenv(variable, changes[variable])
    given = context(name, kernel, path, changes.get("part", 0.45))
    fields = {"flags": ZEN5, "vendor_id": changes.get("vendor_id")}
    monkeypatch.setattr(kernels.machine, "cpu_field", fields.get)
    attributes = ("is_baseline", "peaks", "serving", "reasons")
    vars(given).update({key: value for key, value in changes.items() if key in attributes})
    found = kernels.check(given)
    assert found.status == status and detail in found.detail
    assert found.fix == fix or (fix == UNSET and UNSET in found.fix)
    assert status != "fail" or found.fix == kernels.fix_if_slower(given.serving)
    assert given.advice == changes.get("advice", [])


def test_kernels_of_the_library_behind_a_front_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (front := tmp_path / "front.so").write_bytes(b"")
    (path := tmp_path / "lib.so").write_bytes(b"SkylakeX")
    monkeypatch.setattr(library, "behind", {str(front): str(path)}.get)
    assert kernels.check(context("openblas", "Haswell", front)).fix.endswith("=SkylakeX")
