"""The turns of a plan: their order, their processes, what is kept of them, none left behind."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from stacks.bench import processes as bench_processes
from stacks.bench import rounds
from stacks.bench.processes import NoAnswerError, SuspendedProcess
from stacks.bench.schedule import Plan
from stacks.core.errors import StacksError
from stacks.core.process import CommandError
from unit.helpers.benching import PASSED, candidate, kernels_of, plan
from unit.helpers.environments import kill_during_import

PYTENSOR = (candidate("mkl", "pytensor-3.3.7"), candidate("blis", "pytensor-3.3.7"))
TWO = ("blis", "mkl")


def programs(*names: str, **more: Any) -> Plan:
    return plan(*names, **{"workload": "ntm", "rounds": 5, **more})


def of_pytensor(**more: Any) -> Plan:
    return dataclasses.replace(programs(**more), candidates=PYTENSOR)


def test_kernels_run_under_variables_that_are_not_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THEANO_FLAGS", "blas.ldflags=-lmine,device=opencl0:0")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("THEANO_STACKS_BLIS_ZEN5", "0")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    env = bench_processes.variables(candidate("mkl"), 3)
    names = ("OPENBLAS", "GOTO", "MKL", "BLIS", "OMP", "NUMBA")
    assert {env[f"{name}_NUM_THREADS"] for name in names} == {"3"}
    assert env["THEANO_FLAGS"] == env["THEANORC"] == env["PYTHONDONTWRITEBYTECODE"] == ""
    assert not {"OPENBLAS_CORETYPE", "THEANO_STACKS_BLIS_ZEN5"} & set(env)
    report = {**PASSED, "device": {"where": "opencl0:1", "name": "a GPU", "driver": "1"}}
    env = bench_processes.variables(candidate("gpuarray", report=report), 2)
    assert env["THEANO_FLAGS"] == "device=opencl0:1", "the one that was verified"


def test_a_kernels_process_ends_with_a_killed_bench(tmp_path: Path) -> None:
    code = (
        "import sys, dataclasses, pathlib; from stacks.bench import rounds\n"
        "from unit.helpers.benching import candidate, plan\n"
        "built = dataclasses.replace(candidate('mkl'), place=pathlib.Path(sys.argv[1]))\n"
        "rounds.run(dataclasses.replace(plan('mkl'), candidates=(built,)))"
    )
    kill_during_import(tmp_path, code)


def test_kernels_beside_busy_loops_that_are_unpinned_and_no_noise(tmp_path: Path) -> None:
    kernels_of(tmp_path)
    usable, beside = os.sched_getaffinity(0), list[list[set[int]]]()

    class Watched(SuspendedProcess):
        def ask(self, **question: Any) -> dict[str, Any]:
            every = [each for each in psutil.Process().children() if "-c" in each.cmdline()]
            beside.append([set(each.cpu_affinity()) for each in every])
            assert len(os.sched_getaffinity(0)) == 1
            return super().ask(**question)

    built = dataclasses.replace(candidate("blis"), place=tmp_path)
    of = dataclasses.replace(plan(threads=(1,), rounds=2, busy=2), candidates=(built,))
    found = rounds.run(of, Watched).runs
    assert beside == [[usable, usable]] * 2
    assert [(run.busy, run.start, run.round) for run in found] == [(2, 1, 1), (2, 2, 2)]
    assert found[0].series[0].samples == (100.123, 99.0)
    assert not psutil.Process().children()


class Fake(SuspendedProcess):
    """A process that has compiled, and whose calls take a quarter of a second each."""

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str], of: Processes) -> None:
        self.words, self.env, self.of = [str(w) for w in words], env, of
        self.asked, self.killed = list[int](), False

    def answer(self) -> dict[str, Any]:
        self.of.behave(self)
        compiled = {"seconds": 4.0, "modules": self.of.modules}
        known = {"graph": {"signature": "abc"}, "compile": compiled}
        return {"ready": [{"name": self.of.name, **known}]}

    def ask(self, **question: Any) -> dict[str, Any]:
        assert not self.killed
        self.asked.append(question["calls"])
        self.of.behave(self)
        return {"seconds": {"step": [0.25] * question["calls"]}}

    def processor_seconds(self) -> float:
        return 0.0 if self.killed else 0.75

    def kill(self) -> None:
        self.killed = True

    @property
    def is_numbas(self) -> bool:
        return "numba" in self.words


class Processes:
    """All processes of a bench, and what they have in common.

    compiled: how many were started until each compilation. fails: of a process and the number of
    its answers so far, the error that it ends with.
    """

    def __init__(self, modules: int = 1, name: str = "step", fails: Any = None) -> None:
        self.modules, self.name, self.fails = modules, name, fails or (lambda *_: None)
        self.every: list[Fake] = []
        self.compiled: list[int] = []

    def behave(self, process: Fake) -> None:
        """Raise the error of a process, before each of its answers."""
        if not process.asked:
            self.compiled.append(len(self.every))
        if error := self.fails(process, len(process.asked)):
            raise error

    def open(self, words: Sequence[str | Path], env: Mapping[str, str], limit: float) -> Fake:
        self.every.append(Fake(words, env, self))
        return self.every[-1]

    def run(self, of: Plan) -> rounds.Timed:
        """Take all turns; no process remains, however they end."""
        try:
            return rounds.run(of, open_process=self.open)
        finally:
            assert self.every and all(process.killed for process in self.every)


def test_a_program_is_timed_in_the_rounds_of_its_starts() -> None:
    processes = Processes()
    found = processes.run(programs(*TWO, starts=2)).runs
    numbers = [(run.start, run.round) for run in found[::2]]
    assert numbers == [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5)]
    assert [process.asked for process in processes.every] == [[20] * 3] * 2 + [[20] * 2] * 2
    for run in found:
        (series,) = run.series
        assert (series.name, series.samples) == ("ntm step", (0.25,) * 20)
        assert (series.graph, series.compile) == ("abc", 4.0)


@pytest.mark.parametrize(
    ("workload", "quick", "words", "calls"),
    [
        ("gemm", True, "bench-probe theano gemm quick", 20),
        ("gemm", False, "bench-probe theano gemm", 100),
        ("ntm", True, "workload ntm --stay --profile-calls 1", 20),
        ("ntm", False, "workload ntm --stay --profile-calls 1", 100),
        ("check_blas", True, "workload check_blas --stay --profile-calls 0", 1),
        ("check_blas", False, "workload check_blas --stay --profile-calls 0", 10),
        ("lstm", True, "workload lstm --stay --case merged --profile-calls 1", 10),
        ("mlp", True, "workload mlp --stay --profile-calls 1", 300),
    ],
)
def test_what_a_program_is_asked(workload: str, quick: bool, words: str, calls: int) -> None:
    processes = Processes()
    processes.run(programs("mkl", workload=workload, quick=quick, rounds=1, threads=(2,)))
    assert processes.every[0].words[2:] == words.split()
    assert processes.every[0].asked == [calls]


def test_programs_take_shared_modules_and_a_device_its_expectation(tmp_path: Path) -> None:
    built = dataclasses.replace(candidate("mkl"), place=tmp_path)
    (tmp_path / "etc/theano-stacks").mkdir(parents=True)
    (tmp_path / "etc/theano-stacks/modules").write_text("/cache/modules")
    device = candidate("gpuarray")
    processes = Processes()
    processes.run(dataclasses.replace(programs(rounds=1), candidates=(built, device)))
    assert processes.every[0].words[-2:] == ["--share-modules", "/cache/modules"]
    expectation = str(device.place / "etc/theano-stacks/expect.json")
    assert processes.every[1].words[-2:] == ["--expect", expectation]


@pytest.mark.parametrize(
    ("more", "compiled"),
    [
        ({}, [1, 2]),
        # The first start of a campaign compiles all at once.
        ({"starts": 2, "campaign": True}, [2, 2, 3, 4]),
        ({"starts": 1, "campaign": True}, [2, 2]),
    ],
)
def test_a_campaign_compiles_all_at_once(more: dict[str, Any], compiled: list[int]) -> None:
    processes = Processes()
    found = processes.run(programs(*TWO, **more)).runs
    assert processes.compiled == compiled
    assert [run.series[0].compile is not None for run in found] == [
        run.start != 1 or not more for run in found
    ]
    # Operations that are never cached do not count, but a first start may compile everything.
    found = Processes(modules=40).run(programs("mkl", starts=2, rounds=2)).runs
    assert [run.series[0].compile for run in found] == [None, 4.0]


def test_numba_is_timed_where_it_is_the_default() -> None:
    processes = Processes()
    found = processes.run(of_pytensor(rounds=1)).runs
    assert [series.name for series in found[0].series] == ["ntm step", "ntm step, numba"]
    assert [process.is_numbas for process in processes.every] == [False, True] * 2
    for workload, name in (("check_blas", "pytensor-3.3.7"), ("ntm", "pytensor-2.38.3")):
        other = dataclasses.replace(
            programs(workload=workload, rounds=1), candidates=(candidate("mkl", name),)
        )
        assert {len(run.series) for run in Processes().run(other).runs} == {1}
    quick = Processes().run(of_pytensor(rounds=1, campaign=True))
    assert {len(run.series) for run in quick.runs} == {1}, "a quick campaign leaves it out"


# answers: of each process, after which it ends so.
@pytest.mark.parametrize(
    ("error", "answers"),
    [
        (KeyboardInterrupt("stop"), 1),
        (StacksError("broken"), 1),
        # Where every process times out there is no result.
        (NoAnswerError("not compiled"), 0),
    ],
)
def test_an_error_ends_the_rounds(error: BaseException, answers: int) -> None:
    with pytest.raises(type(error), match=str(error)):
        Processes(fails=lambda _, n: error if n >= answers else None).run(programs(*TWO))
    with pytest.raises(StacksError, match=r"theano-1\.0\.5/blis: ntm: no measurement"):
        Processes(name="nome").run(programs(*TWO))


# Numba's processes do not answer the nth time; 0: while they compile.
@pytest.mark.parametrize(("number", "starts"), [(0, 1), (3, 1), (5, 1), (0, 3)])
def test_a_timeout_is_recorded_and_the_other_figures_are_kept(number: int, starts: int) -> None:
    late = NoAnswerError("it has not answered")
    processes = Processes(fails=lambda one, n: late if one.is_numbas and n == number else None)
    found = processes.run(of_pytensor(limit=60, starts=starts))
    assert {series.name for run in found.runs for series in run.series} == {"ntm step"}
    assert len(found.runs) == 10, "what it had answered before is left out, the rest is not"
    first, second = sorted(found.missing, key=lambda one: one.subject)
    figures = ("pytensor-3.3.7/blis", "ntm, numba", 2, number, 60.0, 0.8, "")
    assert tuple(first.model_dump().values()) == figures
    assert second.subject == "pytensor-3.3.7/mkl"
    # It is not started again.
    assert [process.is_numbas for process in processes.every].count(True) == 2


def test_in_a_campaign_a_program_that_fails_has_no_figure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    killed = CommandError("python\nlast words", found="it was\nkilled by \x1bSIGKILL")
    broken = Processes(fails=lambda one, n: killed if "mkl" in one.words[0] and n == 2 else None)
    found = broken.run(programs(*TWO, starts=1, campaign=True))
    assert [run.subject for run in found.runs] == ["theano-1.0.5/blis"] * 5
    (missing,) = found.missing
    assert (missing.subject, missing.name, missing.round) == ("theano-1.0.5/mkl", "ntm", 2)
    assert missing.reason == "failed in round 2: it was killed by SIGKILL: it has no figure"
    assert "theano-1.0.5/mkl has no figure of ntm\nerror: python\nlast words" in (
        capsys.readouterr().err
    )
