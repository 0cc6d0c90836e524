"""A workload's profile as results keep it."""

from __future__ import annotations

import pytest

from stacks.bench import profile as profiles
from stacks.bench.result import Result
from unit.helpers.benching import BASE, result, runs
from unit.helpers.profiles import case, profile, row, tables


def test_scans_are_opened_and_the_rows_sum_up_to_the_calls() -> None:
    inner, outer = tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py")
    found = profiles.of_case(case(profile(inner, outer)))
    assert found
    assert [(cost.name, cost.type, cost.seconds, cost.calls) for cost in found.rows] == [
        ("Gemm", "C", 2.0, 100),
        ("Dot22", "Py", 1.0, 10),
        ("(scan's own overhead)", "", 0.5, 0),
        ("(calling the function)", "", 0.25, 0),
    ]
    assert found.calls == 10
    assert sum(cost.seconds for cost in found.rows) == pytest.approx(found.seconds)
    assert (found.rest.classes, found.rest.seconds, found.rest.calls) == (0, 0.0, 0)
    split = found.compile
    assert (split.total, split.optimiser, split.linker, split.import_) == (4.0, 3.0, 1.0, 0.2)
    assert split.modules == 2


def test_what_has_no_row_of_its_own_is_summed() -> None:
    inner, outer = tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py")
    outer["classes"] += [row("class", f"x.Op{n}", 0.001, 30, "C", 3) for n in range(20)]
    found = profiles.of_case(case(profile(inner, outer)))
    assert found and len(found.rows) == profiles.LARGEST == 12
    assert (found.rest.classes, found.rest.calls) == (12, 360)
    assert found.rest.seconds == pytest.approx(0.012)


def test_without_a_profile_there_is_none() -> None:
    assert profiles.of_case(case(None)) is None


def test_a_result_keeps_it() -> None:
    inner, outer = tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py")
    found = profiles.of_case(case(profile(inner, outer)))
    stored = result(runs(BASE, [1.0], profile=found), BASE).model_dump_json(by_alias=True)
    (run,) = Result.model_validate_json(stored).runs
    assert run.series[0].profile == found
    assert Result.model_validate_json(stored).model_dump_json(by_alias=True) == stored
