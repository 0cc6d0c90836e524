"""The speed of Gemm against the processors' peak."""

from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

speed = suite_module("blas.speed")
library = suite_module("blas.library")
LIBRARY = library.Library("unknown", None, None, 4, "/lib/x.so")
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
    ("threads", "cores", "peaks", "expected"),
    [
        (1, 4, {1: 100.0, 4: 400.0}, (1, 1.0)),
        (2, 4, {1: 100.0, 4: 400.0}, (4, 0.5)),
        (4, 4, {1: 100.0, 4: 400.0}, (4, 1.0)),
        (None, 4, {1: 100.0, 4: 400.0}, (4, 1.0)),
        # Hyperthreads share a core: four threads have the peak of all eight.
        (4, 8, {1: 100.0, 8: 400.0}, (8, 1.0)),
    ],
)
def test_the_peak_is_that_of_the_threads_which_the_library_uses(
    threads: int | None, cores: int, peaks: dict[int, float], expected: tuple[int, float]
) -> None:
    given = context(peaks={"float64": peaks}, serving=LIBRARY._replace(threads=threads))
    assert speed._threads_of_peak(given, "float64") == expected


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
    given = context(peaks={"float64": {1: 1.0, 2: 2.0}}, peak_kernel=None, serving=None)
    given.shares, given.reasons, given.peak_sets = {}, {}, {("float64", 2): 3}
    update = Update()
    update.resize(1000)
    assert speed._in_pairs(given, update, 1000, "float64") == [1.0] * speed.SAMPLES
    assert given.shares["float64"] == [0.8] * speed.SAMPLES
    assert given.peaks["float64"][2] == 1.25


def test_a_slow_library_gets_smaller_matrices_and_no_check_blas(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert speed._gemm_size(Update()) == 1000
    assert speed._check_blas(context(full=False), Update(), 2000, 1.0) == []
    assert "check_blas 2000 would take 160 s here" in capsys.readouterr().err
    (timing,) = speed._check_blas(context(full=True), Update(), 2000, 1.0)
    assert (timing.name, timing.samples) == ("check_blas 2000", [160.0])
    # Calls that were timed already count.
    (timing,) = speed._check_blas(context(full=True), Update(), 2000, 1.0, [2.0] * 5)
    assert timing.samples == [120.0]
