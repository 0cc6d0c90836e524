"""Two profiles side by side."""

from __future__ import annotations

from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.profiles import compare as profile_compare
from unit.helpers.profiles import case, profile, report, tables

SLOW = profile(tables("Dot22", 2.0, 400, "Py", 4), tables("Gemm", 0.4, 10, "C"))
FAST = profile(tables("Dot22", 0.5, 400, "C", 4), tables("Gemm", 0.6, 10, "C"))


@pytest.mark.parametrize("kind", ["classes", "ops", "applies"])
def test_the_costs_of_a_call_sum_up_to_it(kind: str) -> None:
    found = profile_compare.operation_times(SLOW, kind)
    assert sum(cost.seconds for cost in found.values()) == pytest.approx(SLOW["seconds"] / 10)
    assert found[profile_compare.OVERHEAD].seconds == pytest.approx(0.05)
    assert found[profile_compare.CALLING].seconds == pytest.approx(0.025)
    assert not any("Scan" in name or "forall" in name for name in found)


def test_the_largest_change_comes_first() -> None:
    rows = profile_compare.differences(SLOW, FAST, "classes")
    assert [row.name for row in rows[:2]] == ["Dot22", "Gemm"]
    assert rows[0].gained == pytest.approx(-0.15) and rows[0].now_in_c
    assert rows[1].gained == pytest.approx(0.02) and not rows[1].now_in_c
    before = rows[0].before
    assert before and (before.seconds, before.type, before.applies) == (0.2, "Py", 4)


def test_the_table_names_the_ops_that_are_c_now(capsys: pytest.CaptureFixture[str]) -> None:
    profile_compare.show(
        report(case(SLOW), variant="pip-default"), report(case(FAST, seconds=0.008))
    )
    output = capsys.readouterr().out
    assert "ntm step, float32: pip-default on theano-1.0.5 -> openblas on theano-1.0.5" in output
    assert "10.000 -> 8.000 ms, 0.800 of it" in output
    assert "the graphs are the same" in output
    assert "Py -> C" in output and "from Py to C: Dot22{inplace}; -150.000 ms a call" in output


def test_different_graphs_of_one_framework_are_a_remark(capsys: pytest.CaptureFixture[str]) -> None:
    other = case(FAST, signature="c" * 12)
    other["graph"]["scans"] *= 2
    profile_compare.show(report(case(SLOW)), report(other))
    output = capsys.readouterr().out
    assert "the graphs differ: aaaaaaaaaaaa (3 nodes, 1 scans) -> cccccccccccc" in output
    assert "may be chance" in output


def test_without_a_profile_the_calls_still_compare(capsys: pytest.CaptureFixture[str]) -> None:
    profile_compare.show(report(case(SLOW)), report(case(None)))
    output = capsys.readouterr().out
    assert "10.000 -> 10.000 ms" in output and "has no profile" in output


@pytest.mark.parametrize(
    ("other", "name", "message"),
    [
        ({"workload": "lstm"}, "", "workload differs"),
        ({"dtype": "float64"}, "", "dtype differs"),
        ({}, "merged", "the case merged"),
    ],
)
def test_different_work_does_not_compare(other: dict[str, Any], name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        profile_compare.show(report(case(SLOW)), report(case(FAST), **other), case=name)
