"""The speed of Gemm against the processors' peak, and the kernels that a library uses."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import context
from verify.blas import kernels, library, speed

LIBRARY = library.Library("unknown", None, None, 4, "/lib/x.so", None, None)
GOOD = "90 % of this machine's peak (85 to 90 %); a processor alone: 90 %"
SLOWER = "a processor alone: %d %% (a good library reaches 80 %%)"
STEAL = "the host gave 20 %"


def where(shares: list[float], alone: float, reasons: list[str], is_baseline: bool = False) -> Any:
    return context(
        gemm={"float64": [400.0 * share for share in shares]},
        alone={"float64": alone},
        shares={"float64": shares},
        reasons={"float64": reasons},
        peaks={"float64": {1: 100.0, 4: 400.0}},
        serving=LIBRARY,
        is_baseline=is_baseline,
        has_ldflags=True,
    )


@pytest.mark.parametrize(
    ("threads", "expected"), [(1, [1, 4]), (2, [1, 2, 4]), (4, [1, 4]), (None, [1, 4]), (8, [1, 4])]
)
def test_the_peak_is_that_of_the_threads_which_the_library_uses(
    threads: int | None, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "load_peak", lambda compiler, folder: None)
    monkeypatch.setattr(kernels, "rate_of", lambda kernel, dtype, isa, threads, seconds: threads)
    given = context(peaks={}, peak_sets={}, serving=LIBRARY._replace(threads=threads))
    kernels.time_peaks(given)
    assert given.peaks["float64"] == {count: count for count in expected}
    given.shares, given.reasons, update = {}, {}, Update()
    update.resize(1000)
    speed._in_pairs(given, update, 1000, "float64")
    assert max(given.shares["float64"]) == 1 / min(threads or 4, 4)


@pytest.mark.parametrize(
    ("shares", "alone", "reasons", "end", "is_disturbed"),
    [
        ([0.85, 0.9], 90.0, [], GOOD, False),
        ([0.6, 0.55], 60.0, [], SLOWER % 60, False),
        # No reason is given that was not seen.
        ([0.7, 0.72], 75.0, [], SLOWER % 75, False),
        ([0.45, 0.5], 90.0, [], "(its 4 threads compute 2.2 times as fast as one)", False),
        # A low figure is not the variant's where something took time.
        ([0.45, 0.5], 90.0, [STEAL], f"a processor alone: 90 % ({STEAL})", True),
        # What varies too much, or is beyond the peak, is not judged.
        ([0.35, 0.6, 0.4], 60.0, [], "peak; a processor alone: 60 %", True),
        ([0.9, 1.72], 90.0, [], "peak; a processor alone: 90 %", True),
    ],
)
def test_fast_enough_products_pass_with_what_was_seen(
    shares: list[float], alone: float, reasons: list[str], end: str, is_disturbed: bool
) -> None:
    check = speed.check_speed(where(shares, alone, reasons), "float64")
    assert (check.status, check.speed["disturbed"]) == ("pass", is_disturbed)
    assert check.detail.endswith(end)
    noise = f"too noisy to judge: {100 * min(shares):.0f} to {100 * max(shares):.0f} % of this"
    assert (noise in check.detail, "GFLOP/s" not in check.detail) == (is_disturbed, is_disturbed)


def test_slow_products_fail_except_in_the_baseline() -> None:
    check = speed.check_speed(where([0.12, 0.125], 20.0, []), "float64")
    assert check.status == "fail"
    assert check.detail.endswith("a processor alone: 20 %, less than 30 %")
    assert "[blas]\nldflags = " in check.fix
    assert speed.check_speed(where([0.12], 20.0, [], True), "float64").status == "pass"
    nothing = context(peaks={}, gemm={}, shares={})
    assert speed.check_speed(nothing, "float64").status == "skip"


class Update:
    """A function whose calls take as long as at 1 GFLOP/s."""

    size = 0

    def resize(self, size: int) -> None:
        self.size = size

    def seconds(self, calls: int = 1) -> float:
        return calls * 2.0 * self.size**3 / 1e9


def test_the_peak_is_measured_again_where_a_product_is_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peaks = iter([0.5, 0.6, 1.25] + [1.25] * speed.SAMPLES)
    monkeypatch.setattr(speed.kernels, "rate_of", lambda *_: next(peaks))
    given = context(peaks={"float64": {1: 1.0, 4: 4.0}}, peak_kernel=None, serving=None)
    given.shares, given.reasons, given.peak_sets = {}, {}, {("float64", 4): 3}
    update = Update()
    update.resize(1000)
    assert speed._in_pairs(given, update, 1000, "float64") == [1.0] * speed.SAMPLES
    assert given.shares["float64"] == [0.8] * speed.SAMPLES
    assert given.peaks["float64"][4] == 1.25


def test_a_thread_that_never_starts_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed.kernels, "LONGEST", 0)
    monkeypatch.setattr(speed.kernels, "start_thread", lambda work, words: None)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        speed.kernels.rate_of(None, "float64", 0, 2, 0.01)


def test_a_slow_library_gets_smaller_matrices_and_no_check_blas(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert speed._gemm_size(Update()) == 1000
    assert speed._check_blas(context(full=False), Update(), 2000, 1.0) == []
    assert "check_blas 2000 would take 160 s here" in capsys.readouterr().err
    (timing,) = speed._check_blas(context(full=True), Update(), 2000, 1.0)
    assert (timing.name, timing.samples) == ("check_blas 2000", [160.0])
    # Calls that were timed already count, and the matrices are those.
    update = Update()
    update.resize(2000)
    (timing,) = speed._check_blas(context(full=True), update, 2000, 1.0, [2.0] * 5)
    assert timing.samples == [120.0]


AVX512 = "avx512f avx512bw avx512cd avx512dq avx512vl"
AVX2 = "sse2 avx avx2 fma"
ZEN5 = f"{AVX2} {AVX512}"


@pytest.fixture(autouse=True)
def zen5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.machine, "cpu_field", {"flags": ZEN5}.get)
    monkeypatch.setattr(kernels.machine, "usable_cores", lambda: 4)
    monkeypatch.setattr(library, "behind", lambda path: path)
    for name in (*kernels.VARIABLES.values(), *kernels.MKL_VARIABLES):
        monkeypatch.delenv(name, raising=False)


def using(name: str, kernel: str | None, path: Path | str = "/lib/x.so", part: float = 0.45):  # type: ignore[no-untyped-def]
    return SimpleNamespace(
        serving=library.Library(name, "1.0", kernel, 2, str(path), None, None),
        peaks={"float64": {1: 100.0, 2: 200.0}, "float32": {1: 200.0, 2: 400.0}},
        alone={"float64": 100 * part, "float32": 190.0},
        reasons={"float64": []},
        is_baseline=False,
        advice=[],
    )


BEHIND = "Haswell, for AVX2, where this processor has AVX-512"
CORETYPE = "set this before Python starts:\nexport OPENBLAS_CORETYPE=SkylakeX"
NO = "this library has no kernels for %s: install one that has"
NO_BETTER = NO % "AVX-512"
SELECTED = "OPENBLAS_CORETYPE=Haswell selects these kernels:\nunset OPENBLAS_CORETYPE"
PENRYN = "BLIS_ARCH_TYPE=5 selects these kernels:\nunset BLIS_ARCH_TYPE"
MKL = "def, for AVX2, where this processor has AVX-512: Gemm reaches 45 % of a processor's peak"
BETTER = "by kernels for AVX2: OpenBLAS and BLIS have some for AVX-512"
ADVICE = [f"MKL reaches 45 % of this processor's peak {BETTER}"]
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
        ("blis", "penryn", "", {"BLIS_ARCH_TYPE": "5"}, "fail", "penryn, for SSE2, by", PENRYN),
        ("openblas", "SkylakeX", "", {"BLIS_ARCH_TYPE": "0"}, "pass", "AVX-512", None),
        ("openblas", "Haswell", "", {"OPENBLAS_CORETYPE": "Haswell"}, "fail", "45 %", SELECTED),
        # The best instruction set of the processor counts.
        ("openblas", "Barcelona", "", {"flags": "sse2"}, "pass", "Barcelona, for SSE2", None),
        ("openblas", "Barcelona", "", {"flags": "avx avx2"}, "fail", "has AVX:", NO % "AVX"),
        ("openblas", "Barcelona", "", {"flags": "avx avx2 fma"}, "fail", "has AVX2:", NO % "AVX2"),
        ("openblas", "Haswell", "", {"flags": f"{AVX2} avx512f"}, "pass", "Haswell, for AVX2",
         None),
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
        ("mkl", None, "avx512", {"part": 0.45}, "pass", "avx512, for AVX-512", None),
        ("mkl", None, "def", {"part": 0.8}, "pass", "Gemm reaches 80 %", None),
        # AMD's processors have one set of kernels beside that for all; Intel's have several.
        ("mkl", None, "avx2", {"MKL_CBWR": "AVX2", "advice": ADVICE}, "pass", "avx2, for", None),
        ("mkl", None, "avx2", {"MKL_CBWR": "COMPATIBLE"}, "fail", "avx2, for SSE2", UNSET),
        ("mkl", None, "avx2", {"MKL_CBWR": "AVX2", **INTEL}, "fail", "by MKL_CBWR=AVX2", UNSET),
        ("mkl", None, "avx2", {"MKL_ENABLE_INSTRUCTIONS": "AVX2", **INTEL}, "fail", "avx2", UNSET),
        ("mkl", None, "avx2", {"MKL_CBWR": "AVX2", **INTEL, "part": 0.9}, "pass", "90 %", None),
    ],
)  # fmt: skip
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
    given = using(name, kernel, path, changes.get("part", 0.45))
    fields = {"flags": changes.get("flags", ZEN5), "vendor_id": changes.get("vendor_id")}
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
    assert kernels.check(using("openblas", "Haswell", front)).fix.endswith("=SkylakeX")
