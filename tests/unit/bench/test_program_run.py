from __future__ import annotations

import pytest

from stacks.bench.program_run import ProgramRun


def step(*seconds: float) -> float | None:
    return ProgramRun(1.0, 1.0, 0.1, 100.0, None, seconds).step


def test_short_steps_are_averaged() -> None:
    """As many marks come at once as the machine is busy."""
    many = step(0.004, 0.0, 0.0, 0.006, 0.0, 0.0, 0.004, 0.004, 0.002, 0.0, 0.1)
    assert many == pytest.approx(0.0025)
    assert step(0.02, 0.03, 0.05) == 0.03
    assert step(0.001, 0.003) == 0.002
