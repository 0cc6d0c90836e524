"""The order of the rounds, what may be timed, and how a process's words become figures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stacks.bench import noise, rounds
from stacks.bench.busy_loops import BusyLoops, busy_loops
from stacks.bench.candidates import Candidate
from stacks.bench.result import Series
from stacks.core.errors import StacksError
from unit.helpers.benching import plan


def test_the_first_run_of_each_warms_up_and_is_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    requested = []

    def measure(one: Candidate, workload: str, threads: int) -> list[Series]:
        requested.append((one.variant.name, threads, len(os.sched_getaffinity(0))))
        return [Series(name="Gemm", unit="s", samples=(float(len(requested)),), graph=None)]

    threads = min(2, len(os.sched_getaffinity(0)))
    found = rounds.run(plan("blis", "mkl", threads=(threads,), rounds=2), measure).runs
    assert [(name, stored) for name, _, stored in requested[:2]] == [
        ("blis", threads),
        ("mkl", threads),
    ]
    assert [run.round for run in found] == [1, 1, 2, 2]
    assert [run.series[0].samples for run in found] == [(3.0,), (4.0,), (5.0,), (6.0,)]
    output = capsys.readouterr().err.splitlines()
    assert output[0] == "warming up ..." and output[1].startswith("round 1 of 2 ... about")


def test_own_workloads_that_fail_are_not_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    tried: list[str] = []

    def measure(one: Candidate, workload: str, threads: int) -> list[Series]:
        tried.append(one.variant.name)
        if one.variant.name == "mkl":
            raise StacksError("no measurement", found="\x1b[0mnon\nsense")
        return [Series(name="Gemm", unit="s", samples=(1.0,))]

    campaign = plan("blis", "mkl", threads=(1,), rounds=2, keep_going=True, with_numba=False)
    timed = rounds.run(campaign, measure)
    assert tried == ["blis", "mkl", "blis", "blis"]
    assert [run.subject for run in timed.runs] == ["theano-1.0.5/blis"] * 2
    (missing,) = timed.missing
    assert (missing.name, missing.round, missing.failure) == ("gemm", 0, "[0mnon sense")
    assert "theano-1.0.5/mkl has no figure of gemm" in capsys.readouterr().err
    with pytest.raises(StacksError, match="no measurement"):
        rounds.run(plan("blis", "mkl", threads=(1,), rounds=2), measure)


def test_busy_loops_run_beside_each_round_unpinned_and_are_no_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usable, running, counted = os.sched_getaffinity(0), list[BusyLoops](), list[float]()
    read = noise.read

    @contextmanager
    def started(count: int) -> Iterator[BusyLoops]:
        with busy_loops(count) as loops:
            running[:] = [loops]
            yield loops

    def read_noise(*, living: float) -> noise.Reading:
        counted.append(living)
        return read(living=living)

    def measure(one: Candidate, workload: str, threads: int) -> list[Series]:
        processes = running[0].processes
        beside.append([os.sched_getaffinity(process.pid) for process in processes])
        before = running[0].processor_seconds()
        while processes and running[0].processor_seconds() == before:
            pass
        return [Series(name="Gemm", unit="s", samples=(1.0,))]

    beside: list[list[set[int]]] = []
    monkeypatch.setattr(rounds, "busy_loops", started)
    monkeypatch.setattr(noise, "read", read_noise)
    found = rounds.run(plan("blis", threads=(1,), rounds=1, busy=2), measure).runs
    assert beside == [[], [usable, usable]], "none while it warms up"
    assert [run.busy for run in found] == [2]
    assert counted[0] == counted[1] == 0 and counted[3] > counted[2], (
        "their time is the bench's own"
    )
    assert all(process.returncode is not None for process in running[0].processes)
