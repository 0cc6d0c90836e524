"""The order of the rounds, what may be timed, and how a process's words become figures."""

from __future__ import annotations

import os

import pytest

from stacks.bench import rounds
from stacks.bench.candidates import Candidate
from stacks.bench.result import Series
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
