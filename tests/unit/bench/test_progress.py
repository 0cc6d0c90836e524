from __future__ import annotations

import pytest

from stacks.bench.progress import duration, round_display


def test_durations() -> None:
    assert (duration(12.3), duration(89), duration(600)) == ("12 s", "89 s", "10 min")


def test_without_a_terminal_there_is_a_line_for_each_round(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with round_display(4) as progress:
        progress.update("round 1 of 2: mkl", 0, None)
        progress.update("round 1 of 2: blis", 1, 30.0)
        progress.update("round 2 of 2: mkl", 2, 20.0)
    assert capsys.readouterr().err.splitlines() == [
        "round 1 of 2 ...",
        "round 2 of 2 ... about 20 s left",
    ]
