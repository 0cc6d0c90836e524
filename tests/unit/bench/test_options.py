from __future__ import annotations

from typing import Any

import pytest

from stacks.bench import options, probe
from stacks.bench.options import BenchOptions
from stacks.core.errors import UsageError


def test_the_defaults() -> None:
    assert BenchOptions().workloads == probe.OWN
    assert (BenchOptions().round_count, BenchOptions(quick=True).round_count) == (11, 9)
    assert BenchOptions(rounds=5, quick=True).round_count == 5
    BenchOptions().check()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": 2}, "too few rounds"),
        ({"calls": -1}, "positive numbers"),
        ({"busy": -1}, "positive numbers"),
        ({"workload": "gem"}, "gem"),
    ],
)
def test_impossible_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        BenchOptions(**arguments).check()


def test_a_list_with_commas_has_each_word_once() -> None:
    assert options.split(" a, b,a,,") == ("a", "b")
