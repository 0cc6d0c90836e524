"""The speed of Gemm against the processors' peak."""

from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

speed = suite_module("blas.speed")
library = suite_module("blas.library")


def where(
    shares: list[float],
    alone: float,
    *,
    is_baseline: bool = False,
    reasons: list[str] | None = None,
) -> Any:
    return context(
        gemm={"float64": [400.0 * share for share in shares]},
        alone={"float64": alone},
        shares={"float64": shares},
        reasons={"float64": reasons or []},
        peaks={"float64": {1: 100.0, 4: 400.0}},
        serving=library.Library("unknown", None, None, 4, "/lib/x.so"),
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
    used = library.Library("unknown", None, None, threads, "/lib/x.so")
    given = context(peaks={"float64": peaks}, serving=used)
    assert speed._threads_of_peak(given, "float64") == expected


def test_without_a_peak_or_gemm_there_is_no_share() -> None:
    nothing = context(peaks={}, gemm={}, shares={})
    assert speed.check_speed(nothing, "float64").status == "skip"


@pytest.mark.parametrize(
    ("shares", "alone", "reasons", "end"),
    [
        (
            [0.85, 0.9],
            90.0,
            [],
            "90 % of this machine's peak (85 to 90 %); a processor alone: 90 %",
        ),
        ([0.6, 0.55], 60.0, [], "a processor alone: 60 % (a good library reaches 80 %)"),
        # No reason is given that was not seen.
        ([0.7, 0.72], 75.0, [], "a processor alone: 75 % (a good library reaches 80 %)"),
        ([0.45, 0.5], 90.0, [], "(its 4 threads compute 2.2 times as fast as one)"),
        ([0.45, 0.5], 90.0, ["the host gave 20 %"], "a processor alone: 90 % (the host gave 20 %)"),
    ],
)
def test_fast_enough_products_pass_with_what_was_seen(
    shares: list[float], alone: float, reasons: list[str], end: str
) -> None:
    check = speed.check_speed(where(shares, alone, reasons=reasons), "float64")
    assert check.status == "pass"
    assert check.detail.endswith(end)


@pytest.mark.parametrize("shares", [[0.35, 0.6, 0.4], [0.9, 1.72]])
def test_what_varies_too_much_is_not_judged(shares: list[float]) -> None:
    given = where(shares, 90.0)
    check = speed.check_speed(given, "float64")
    assert check.status == "pass"
    low, high = 100 * min(shares), 100 * max(shares)
    assert f"too noisy to judge: {low:.0f} to {high:.0f} % of this" in check.detail
    assert "GFLOP/s" not in check.detail
    assert check.speed["disturbed"]


def test_a_low_figure_is_not_the_variants_where_something_took_time() -> None:
    for reasons in ([], ["steal"]):
        given = where([0.58, 0.6], 90.0, reasons=reasons)
        assert speed.check_speed(given, "float64").speed["disturbed"] == bool(reasons)


def test_the_peak_is_measured_again_where_a_product_is_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peaks = iter([0.5, 0.6, 1.25] + [1.25] * speed.SAMPLES)
    monkeypatch.setattr(speed.kernels, "best_set", lambda *_: 3)
    monkeypatch.setattr(speed.kernels, "rate_of", lambda *_: next(peaks))
    given = context(peaks={"float64": {1: 1.0, 2: 2.0}}, peak_kernel=None, serving=None)
    given.shares, given.reasons = {}, {}
    update = Update()
    update.resize(1000)
    assert speed._in_pairs(given, update, 1000, "float64") == [1.0] * speed.SAMPLES
    assert given.shares["float64"] == [0.8] * speed.SAMPLES
    assert given.peaks["float64"][2] == 1.25


def test_slow_products_fail_except_in_the_baseline() -> None:
    check = speed.check_speed(where([0.12, 0.125], 20.0), "float64")
    assert check.status == "fail"
    assert check.detail.endswith("a processor alone: 20 %, less than 30 %")
    assert "[blas]\nldflags = " in check.fix
    assert (
        speed.check_speed(where([0.12, 0.125], 20.0, is_baseline=True), "float64").status == "pass"
    )


class Update:
    """A function whose calls take as long as at 1 GFLOP/s."""

    size = 0

    def resize(self, size: int) -> None:
        self.size = size

    def seconds(self, calls: int = 1) -> float:
        return calls * 2.0 * self.size**3 / 1e9


def test_a_slow_library_gets_smaller_matrices() -> None:
    assert speed._gemm_size(Update()) == 1000


def test_check_blas_is_left_out_where_it_takes_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    assert speed._check_blas(context(full=False), Update(), 2000, 1e9) == []
    assert "check_blas 2000 would take 160 s here" in capsys.readouterr().err
    (timing,) = speed._check_blas(context(full=True), Update(), 2000, 1e9)
    assert (timing.name, timing.samples) == ("check_blas 2000", [160.0])


def test_calls_that_were_timed_already_count() -> None:
    (timing,) = speed._check_blas(context(full=True), Update(), 2000, 1e9, [2.0] * 5)
    assert timing.samples == [120.0]
