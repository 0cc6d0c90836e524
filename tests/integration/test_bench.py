"""The bench's own workloads in real environments, and its clock."""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from unit.helpers.benching import PASSED

from integration.conftest import Prefix
from stacks.bench import command, rounds
from stacks.bench.candidates import Candidate
from stacks.bench.processes import NoAnswerError, SuspendedProcess, start_program
from stacks.bench.result import Series
from stacks.bench.schedule import BenchOptions, Plan
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.variants.load import load_variant


def candidate(workspace: Workspace, prefix: Prefix, framework: str, flavour: str) -> Candidate:
    variant = load_variant(workspace, flavour, framework)
    locked = lock.read(workspace, variant)
    return Candidate(variant, prefix(framework, flavour), locked, None)


def plan(of: Candidate, workload: str) -> Plan:
    return Plan((of,), BenchOptions(workload=workload, quick=True), (1,))


def timed(of: Candidate, workload: str, *calls: int) -> list[list[Series]]:
    """Return the series of a workload's process, asked several times."""
    chosen = plan(of, workload)
    started = start_program(chosen, next(chosen.turns()), "")
    try:
        started.wait()
        found = [started.time(count) for count in calls]
        assert started.process.processor_seconds() > 0
    finally:
        started.process.kill()
    return found


@pytest.mark.parametrize(
    ("framework", "flavour"), [("theano-0.8.2", "pip-default"), ("pytensor-3.3.7", "pip-openblas")]
)
def test_elementwise_functions_are_timed(
    workspace: Workspace, prefix: Prefix, framework: str, flavour: str
) -> None:
    [measured] = timed(candidate(workspace, prefix, framework, flavour), "elementwise", 1)
    assert [series.name for series in measured] == [
        f"{name} float32 400x512" for name in ("exp", "tanh")
    ]
    for series in measured:
        assert series.unit == "ns" and len(series.samples) == 3
        # From a tenth of a nanosecond to a microsecond an element: the unit is not mistaken.
        assert all(0.1 < sample < 1000 for sample in series.samples)


def test_products_are_timed_on_the_requested_threads(workspace: Workspace, prefix: Prefix) -> None:
    of = candidate(workspace, prefix, "theano-1.0.5", "pip-openblas")
    measured, again = timed(of, "gemm", 1, 1)
    assert [series.name for series in measured] == ["Gemm float64 2000", "Gemm float32 2000"]
    assert [series.name for series in again] == [series.name for series in measured]
    assert all(1 < sample < 10000 for series in measured for sample in series.samples)


def test_the_clock_on_python_2_is_monotonic(prefix: Prefix) -> None:
    python = prefix("theano-0.8.2", "pip-default") / "bin/python"
    path = str(REPOSITORY / "verify" / "core" / "portable.py")
    code = f"import imp; print(repr(imp.load_source('portable', {path!r}).monotonic()))"
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    done = subprocess.run([python, "-B", "-c", code], capture_output=True, text=True, check=True)
    assert before < float(done.stdout) < time.clock_gettime(time.CLOCK_MONOTONIC)


def test_a_program_is_suspended_and_resumed_on_python_2(
    workspace: Workspace, prefix: Prefix
) -> None:
    of = candidate(workspace, prefix, "theano-0.8.2", "pip-default")
    (first,), (second,) = timed(of, "logreg", 3, 2)
    assert (first.name, len(first.samples), len(second.samples)) == ("logreg step", 3, 2)
    assert first.graph == second.graph and min(first.samples) > 0


def test_a_program_is_timed_beside_a_busy_loop(
    workspace: Workspace, prefix: Prefix, tmp_path: Path
) -> None:
    of = candidate(workspace, prefix, "theano-0.8.2", "pip-default")
    verified = dataclasses.replace(of, report=PASSED)
    options = BenchOptions(
        workload="logreg", rounds=5, threads="1", quick=True, starts=1, calls=5, busy=1
    )
    kept = Workspace(tmp_path, workspace.cache)
    result = command.timed(kept, [verified], options)
    assert result.settings.busy == 1
    assert [(run.busy, run.round) for run in result.runs] == [(1, n) for n in range(1, 6)]
    assert {len(run.series[0].samples) for run in result.runs} == {5}


def test_a_program_is_killed_after_its_time_limit(workspace: Workspace, prefix: Prefix) -> None:
    of = candidate(workspace, prefix, "theano-0.8.2", "pip-default")
    processes = []

    def start(words: Sequence[str | Path], env: Mapping[str, str], _: float) -> SuspendedProcess:
        # No interpreter imports Theano in a hundredth of a second.
        processes.append(SuspendedProcess(words, env, 0.01))
        return processes[-1]

    with pytest.raises(NoAnswerError):
        rounds.run(plan(of, "logreg"), open_process=start)
    assert processes and all(process.processor_seconds() == 0 for process in processes)
