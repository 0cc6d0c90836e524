from __future__ import annotations

from typing import Any

from stacks.bench import schedule
from stacks.bench.progress import duration
from unit.helpers.benching import plan


def test_every_round_times_each_once_and_the_order_turns() -> None:
    found = [
        (turn.round, turn.threads, turn.candidate.variant.name)
        for turn in schedule.turns(plan("blis", "mkl", "openblas", threads=(2,)))
    ]
    names = [name for _, _, name in found]
    assert [number for number, _, _ in found] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert names[3:6] == ["blis", "mkl", "openblas"]
    assert names[6:9] == ["mkl", "openblas", "blis"]
    assert names[9:] == ["openblas", "blis", "mkl"]


def test_compared_variants_are_timed_together() -> None:
    found = [
        (t.workload, t.threads)
        for t in schedule.turns(plan("blis", "mkl", workloads=("gemm", "elementwise"), rounds=1))
        if t.round
    ]
    assert found == [
        ("gemm", 1), ("gemm", 1), ("gemm", 2), ("gemm", 2),
        ("elementwise", 1), ("elementwise", 1),
    ]  # fmt: skip


def test_own_workloads_of_the_same_threads_share_a_process() -> None:
    both = plan("blis", "mkl", workloads=("gemm", "elementwise"), threads=(2,), rounds=1)
    found = list(schedule.turns(both))
    assert [(turn.workload, turn.threads) for turn in found] == [("gemm,elementwise", 2)] * 4
    assert all(turn.is_own and not turn.starts for turn in found)


def test_the_remaining_time_is_estimated_from_similar_runs() -> None:
    every = list(schedule.turns(plan("blis", "mkl", threads=(1,), rounds=2)))
    assert schedule.remaining([], every) is None
    assert schedule.remaining([(every[0], 10.0)], every[1:]) == 50
    done = list(zip(every[:4], [10.0, 2.0, 10.0, 2.0], strict=True))
    assert schedule.remaining(done, every[4:]) == 12
    assert (duration(12.3), duration(600)) == ("12 s", "10 min")


def ntm_plan(*names: str, **more: Any) -> schedule.Plan:
    return plan(*names, **{"workloads": ("ntm",), "rounds": 5, **more})


def told(of: schedule.Plan) -> list[tuple[int, int, str]]:
    return [(turn.start, turn.round, turn.candidate.variant.name) for turn in schedule.turns(of)]


def test_the_order_of_starts_and_rounds() -> None:
    assert told(ntm_plan("blis", "mkl", rounds=3, starts=2)) == [
        (1, 0, "blis"), (1, 0, "mkl"),
        (1, 1, "blis"), (1, 1, "mkl"),
        (1, 2, "mkl"), (1, 2, "blis"),
        (2, 0, "mkl"), (2, 0, "blis"),
        (2, 3, "blis"), (2, 3, "mkl"),
    ]  # fmt: skip


def test_slow_workloads_start_once_on_all_threads_by_default() -> None:
    few = ntm_plan("blis")
    assert {turn.start for turn in schedule.turns(few)} == {1} and schedule.counts_of(
        "ntm", few
    ) == (2,)
    requested = ntm_plan("blis", starts=9, every_count=True)
    assert schedule.starts_of("ntm", requested) == 5, "no more than rounds"
    assert schedule.counts_of("ntm", requested) == (1, 2)
    assert schedule.starts_of("lstm", few) == 5 and schedule.counts_of("lstm", few) == (1, 2)
    assert [turn.last for turn in schedule.turns(few)] == [False] * 5 + [True]
    assert schedule.starts_of("check_blas", ntm_plan("blis", starts=2)) == 1
    assert schedule.starts_of("check_blas", ntm_plan("blis", starts=2, quick=False)) == 2


def test_the_remaining_time_is_known_from_the_first_calls_on() -> None:
    every = list(schedule.turns(ntm_plan("blis", "mkl", rounds=2)))
    assert schedule.remaining([(every[0], 300.0)], every[1:]) is None
    expected = [(every[0], 300.0), (every[2], 10.0)]
    assert schedule.remaining(expected, every[1:]) == 300 + 2 * 10 + 2 * 12
    assert schedule.remaining([*expected, (every[2], 5.0)], every[3:]) == 5 + 2 * 6
