from __future__ import annotations

import pytest

from stacks.cluster import table as cluster_table
from unit.helpers.benching import BASE, FAST, MACHINE, result, runs


def test_machines_stand_side_by_side_and_are_not_divided(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slow = result([*runs(BASE, [10.0] * 7), *runs(FAST, [20.0] * 7)], BASE, FAST)
    quick = result(runs(BASE, [90.0] * 7), BASE, machine=MACHINE)
    cluster_table.print_side_by_side({"slow-1": slow, "quick-2": quick})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["slow-1", "quick-2"]
    assert lines[1][-3:] == ["base", "10.0", "90.0"]
    assert lines[2][-4:] == ["fast", "20.0", "(2.00)", "-"]
