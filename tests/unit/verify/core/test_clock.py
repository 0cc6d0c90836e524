"""The clock of all timings."""

import importlib
import time

import pytest

clock = importlib.import_module("verify.core.portable")


def test_the_clock_is_monotonic_and_counts_seconds() -> None:
    start = clock.monotonic()
    time.sleep(0.02)
    assert 0.02 <= clock.monotonic() - start < 5


def test_the_clock_of_python_2_is_the_systems_monotonic_clock() -> None:
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    now = clock._python_2_clock()()
    assert before <= now <= time.clock_gettime(time.CLOCK_MONOTONIC)


@pytest.mark.parametrize(
    ("samples", "count"),
    [
        ([1.0, 1.02, 9.0], 2),
        ([1.0, 1.04, 1.02, 9.0], 3),
        ([2.0, 1.0, 1.01, 9.0], 3),
        ([4.0, 3.0, 2.0, 1.0, 9.0], 4),
    ],
)
def test_a_timing_ends_when_its_two_shortest_samples_agree(
    samples: list[float], count: int
) -> None:
    values = iter(samples)
    assert clock.until_steady(lambda: next(values), 4) == samples[:count]
