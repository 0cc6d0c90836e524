"""The speed of Gemm against the processors' peak."""

from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

speed = suite_module("blas.speed")
library = suite_module("blas.library")


def where(gemm: float, alone: float, threads: int | None = 2, *, is_baseline: bool = False) -> Any:
    return context(
        gemm={"float64": [gemm / 2, gemm]},
        alone={"float64": alone},
        peaks={"float64": {1: 100.0, 4: 400.0}},
        serving=library.Library("unknown", None, None, threads, "/lib/x.so"),
        is_baseline=is_baseline,
        has_ldflags=True,
    )


@pytest.mark.parametrize(("threads", "share"), [(1, 0.9), (2, 0.45), (4, 0.225), (None, 0.225)])
def test_the_share_of_the_peak_of_its_threads(threads: int | None, share: float) -> None:
    assert speed.share(where(90.0, 80.0, threads), "float64") == pytest.approx(share)


def test_the_peak_of_hyperthreads_is_that_of_their_cores() -> None:
    for threads in (4, 8):
        given = where(360.0, 90.0, threads)
        given.peaks = {"float64": {1: 100.0, 8: 400.0}}
        assert speed.share(given, "float64") == pytest.approx(0.9)


def test_without_a_peak_or_gemm_there_is_no_share() -> None:
    assert speed.share(context(peaks={}, gemm={}), "float64") is None
    assert speed.check_speed(context(peaks={}, gemm={}), "float64").status == "skip"


@pytest.mark.parametrize(
    ("gemm", "alone", "remark"),
    [
        (190.0, 90.0, "90 %"),
        (120.0, 60.0, "(a good library reaches 80 %)"),
        (430.0, 90.0, "(the peak is too low: other programs used the machine; verify again)"),
        (100.0, 90.0, "90 % (other programs used the machine, or the threads disturb one another)"),
        (
            40.0,
            60.0,
            "reaches 80 %; other programs used the machine, or the threads disturb one another)",
        ),
    ],
)
def test_fast_enough_products_pass_with_a_remark(gemm: float, alone: float, remark: str) -> None:
    check = speed.check_speed(where(gemm, alone), "float64")
    assert check.status == "pass"
    assert check.detail.endswith(remark)


def test_slow_products_fail_except_in_the_baseline() -> None:
    check = speed.check_speed(where(50.0, 20.0), "float64")
    assert check.status == "fail"
    assert check.detail.endswith("a processor alone: 20 %, less than 30 %")
    assert "[blas]\nldflags = " in check.fix
    assert speed.check_speed(where(50.0, 20.0, is_baseline=True), "float64").status == "pass"


def test_the_rate_of_a_product() -> None:
    assert speed.gemm_rate(1000, 0.5) == 4.0


class Update:
    """A function whose calls take as long as at 1 GFLOP/s."""

    size = 0

    def resize(self, size: int) -> None:
        self.size = size

    def seconds(self, calls: int = 1) -> float:
        return calls * 2.0 * self.size**3 / 1e9


def test_a_slow_library_gets_smaller_matrices() -> None:
    assert speed._gemm_rates(Update()) == (1000, [1.0] * speed.SAMPLES)


def test_check_blas_is_left_out_where_it_takes_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    assert speed._check_blas(context(full=False), Update(), 2000, 1e9) == []
    assert "check_blas 2000 would take 160 s here" in capsys.readouterr().err
    (timing,) = speed._check_blas(context(full=True), Update(), 2000, 1e9)
    assert (timing.name, timing.samples) == ("check_blas 2000", [160.0])


def test_calls_that_were_timed_already_count() -> None:
    (timing,) = speed._check_blas(context(full=True), Update(), 2000, 1e9, [2.0] * 5)
    assert timing.samples == [120.0]


def test_numba_is_timed_only_where_it_is_the_linker() -> None:
    assert speed.numba_products(context()) == []
