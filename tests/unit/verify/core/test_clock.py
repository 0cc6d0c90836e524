"""The clock of all timings."""

import importlib
import time

clock = importlib.import_module("verify.core.clock")


def test_the_clock_is_monotonic_and_counts_seconds() -> None:
    start = clock.monotonic()
    time.sleep(0.02)
    assert 0.02 <= clock.monotonic() - start < 5


def test_the_clock_of_python_2_is_the_systems_monotonic_clock() -> None:
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    now = clock._python_2_clock()()
    assert before <= now <= time.clock_gettime(time.CLOCK_MONOTONIC)
