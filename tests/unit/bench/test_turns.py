"""The turns of a plan: their order, their processes, what is kept of them, none left behind."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import command, noise, probe, rounds, schedule
from stacks.bench.busy_loops import BusyLoops, busy_loops
from stacks.bench.candidates import Candidate
from stacks.bench.options import BenchOptions
from stacks.bench.progress import duration
from stacks.bench.result import Series
from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import CommandError
from unit.helpers.benching import PASSED, answer, candidate, plan
from unit.helpers.killed import kill_during_import, slow_environment
from unit.helpers.profiles import case, profile, tables

PROFILE = profile(tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py"))
PYTENSOR = (candidate("mkl", "pytensor-3.3.7"), candidate("blis", "pytensor-3.3.7"))


def programs(*names: str, **more: Any) -> schedule.Plan:
    return plan(*names, **{"workload": "ntm", "rounds": 5, **more})


def of_pytensor(**more: Any) -> schedule.Plan:
    return dataclasses.replace(programs(**more), candidates=PYTENSOR)


def order(of: schedule.Plan) -> list[str]:
    """Return `START.ROUND VARIANT, THREADS` of each turn."""
    return [
        f"{turn.start}.{turn.round} {turn.candidate.variant.name}, {turn.threads}"
        for turn in schedule.turns(of)
    ]


def test_every_round_times_each_once_and_another_one_is_first() -> None:
    assert order(plan("blis", "mkl", "openblas", threads=(2,), rounds=2)) == [
        "1.0 blis, 2", "1.0 mkl, 2", "1.0 openblas, 2",
        "1.1 blis, 2", "1.1 mkl, 2", "1.1 openblas, 2",
        "2.2 mkl, 2", "2.2 openblas, 2", "2.2 blis, 2",
    ]  # fmt: skip


def test_kernels_of_the_same_threads_share_a_process_and_elementwise_has_one_thread() -> None:
    both: dict[str, Any] = {"workload": "gemm,elementwise", "rounds": 1}
    found = [(turn.workload, turn.threads) for turn in schedule.turns(plan("blis", **both))]
    warm_up, rounds_ = found[:2], found[2:]
    assert warm_up == [("gemm", 2), ("elementwise", 1)]
    assert rounds_ == [("gemm", 1), ("gemm", 2), ("elementwise", 1)]
    shared = list(schedule.turns(plan("blis", "mkl", threads=(2,), **both)))
    assert [(turn.workload, turn.threads) for turn in shared] == [("gemm,elementwise", 2)] * 4
    assert all(turn.is_of_kernels and not turn.starts for turn in shared)


def test_the_order_of_starts_and_rounds() -> None:
    assert order(programs("blis", "mkl", rounds=3, starts=2)) == [
        "1.0 blis, 2", "1.0 mkl, 2", "1.1 blis, 2", "1.1 mkl, 2", "1.2 mkl, 2", "1.2 blis, 2",
        "2.0 mkl, 2", "2.0 blis, 2", "2.3 blis, 2", "2.3 mkl, 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("workload", "options", "starts", "counts"),
    [
        ("ntm", {}, 1, (2,)),
        ("ntm", {"starts": 9, "threads": "1,2"}, 5, (1, 2)),
        ("lstm", {}, 5, (1, 2)),
        ("check_blas", {"starts": 2}, 1, (1, 2)),
        ("check_blas", {"starts": 2, "quick": False}, 2, (1, 2)),
    ],
)
def test_slow_programs_start_once_on_all_threads(
    workload: str, options: dict[str, Any], starts: int, counts: tuple[int, ...]
) -> None:
    of = programs("blis", workload=workload)
    chosen = of.options.model_copy(update=options)
    found = list(schedule.turns(dataclasses.replace(of, options=chosen)))
    assert max(turn.start for turn in found) == starts
    assert tuple(dict.fromkeys(turn.threads for turn in found)) == counts
    assert sum(turn.last for turn in found) == starts * len(counts)


def test_the_remaining_time_is_estimated_from_turns_of_the_same_kind() -> None:
    every = list(schedule.turns(plan("blis", "mkl", threads=(1,), rounds=2)))
    assert schedule.remaining([], every) == (0, False)
    assert schedule.remaining([(every[0], 10.0)], every[1:]) == (50, True)
    done = list(zip(every[:4], [10.0, 2.0, 10.0, 2.0], strict=True))
    assert schedule.remaining(done, every[4:]) == (12, True)
    ntm = list(schedule.turns(programs("blis", "mkl", rounds=2)))
    assert schedule.remaining([(ntm[0], 300.0)], ntm[1:]) == (300, False), "no call is known yet"
    assert (duration(12.3), duration(600)) == ("12 s", "10 min")


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(UsageError, match="gem"):
        probe.check_names(["gem"])


def test_kernels_run_under_variables_that_are_not_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {"series": [{"name": "Gemm", "unit": "GFLOP/s", "samples": [100.123456789, 99]}]}
    monkeypatch.setenv("THEANO_FLAGS", "blas.ldflags=-lmine,device=opencl0:0")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("THEANO_STACKS_BLIS_ZEN5", "0")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    variables = answer(monkeypatch, "a warning\n" + json.dumps(found) + "\n")
    (series,) = probe.measure(candidate("mkl"), "gemm", 3, quick=True)
    assert series.samples == (100.123, 99.0)
    [env] = variables
    names = ("OPENBLAS", "GOTO", "MKL", "BLIS", "OMP", "NUMBA")
    assert {env[f"{name}_NUM_THREADS"] for name in names} == {"3"}
    assert env["THEANO_FLAGS"] == env["THEANORC"] == env["PYTHONDONTWRITEBYTECODE"] == ""
    assert not {"OPENBLAS_CORETYPE", "THEANO_STACKS_BLIS_ZEN5"} & set(env)
    report = {**PASSED, "device": {"where": "opencl0:1", "name": "a GPU", "driver": "1"}}
    env = probe.environment_of(candidate("gpuarray", report=report), 2)
    assert env["THEANO_FLAGS"] == "device=opencl0:1", "the one that was verified"


@pytest.mark.parametrize(
    "text", ["", "no JSON", '{"series": [{"name": "x", "unit": "mile", "samples": [1]}]}']
)
def test_output_of_kernels_that_is_not_a_measurement(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    answer(monkeypatch, text)
    with pytest.raises(StacksError, match=r"theano-1\.0\.5/mkl"):
        probe.measure(candidate("mkl"), "gemm", 1, quick=True)


def test_a_process_of_kernels_ends_with_a_killed_bench(tmp_path: Path) -> None:
    code = (
        "import sys, dataclasses, pathlib; from stacks.bench import probe\n"
        "from unit.helpers.benching import candidate\n"
        "built = dataclasses.replace(candidate('mkl'), place=pathlib.Path(sys.argv[1]))\n"
        "probe.measure(built, 'gemm', 1, quick=True)"
    )
    kill_during_import(tmp_path, code, slow_environment(tmp_path))


def gemm(*samples: float) -> list[Series]:
    return [Series(name="Gemm", unit="s", samples=samples or (1.0,))]


def test_the_first_turn_of_kernels_warms_up_and_is_not_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    requested = []

    def measure(one: Candidate, workload: str, threads: int) -> list[Series]:
        requested.append((one.variant.name, threads, len(os.sched_getaffinity(0))))
        return gemm(float(len(requested)))

    threads = min(2, len(os.sched_getaffinity(0)))
    found = rounds.run(plan("blis", "mkl", threads=(threads,), rounds=2), measure).runs
    assert requested[:2] == [("blis", threads, threads), ("mkl", threads, threads)]
    assert [run.round for run in found] == [1, 1, 2, 2]
    assert [run.series[0].samples for run in found] == [(3.0,), (4.0,), (5.0,), (6.0,)]
    output = capsys.readouterr().err.splitlines()
    assert output[0] == "warming up, 0 of 6 turns done ..."
    assert output[1].startswith("round 1 of 2, 2 of 6 turns done, about ")


def test_kernels_that_fail_end_the_rounds_but_not_a_campaign(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tried: list[str] = []

    def measure(one: Candidate, workload: str, threads: int) -> list[Series]:
        tried.append(one.variant.name)
        if one.variant.name == "mkl":
            raise StacksError("no measurement", found="\x1b[0mnon\nsense")
        return gemm()

    timed = rounds.run(plan("blis", "mkl", threads=(1,), rounds=2, campaign=True), measure)
    assert tried == ["blis", "mkl", "blis", "blis"], "mkl is not tried again"
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

    def read_noise(living: float) -> noise.Reading:
        counted.append(living)
        return read(living)

    def measure(one: Candidate, workload: str, threads: int) -> list[Series]:
        processes = running[0].processes
        beside.append([os.sched_getaffinity(process.pid) for process in processes])
        before = running[0].processor_seconds()
        while processes and running[0].processor_seconds() == before:
            pass
        return gemm()

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


class Fake(SuspendedProcess):
    """A process that has compiled, and whose calls take a quarter of a second each.

    behave: called with it before each answer; compiling, nothing has been asked yet.
    """

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str], of: Processes) -> None:
        self.words, self.env, self.of = [str(w) for w in words], env, of
        self.asked, self.killed = list[Any](), False

    def answer(self) -> dict[str, Any]:
        self.of.behave(self)
        compiled = {"seconds": 4.0, "modules": self.of.modules}
        known = {"graph": {"signature": "abc"}, "compile": compiled}
        return {"ready": [{"name": self.of.name, **known}]}

    def ask(self, **question: Any) -> dict[str, Any]:
        assert not self.killed
        self.asked.append(question)
        self.of.behave(self)
        if "calls" in question:
            return {"seconds": {"step": [0.25] * question["calls"]}}
        return {"report": {"cases": [{**case(PROFILE), "name": "step"}]}}

    def processor_seconds(self) -> float:
        return 0.0 if self.killed else 0.75

    def kill(self) -> None:
        self.killed = True

    @property
    def is_numbas(self) -> bool:
        return "numba" in self.words


class Processes:
    """All processes of a bench, and what they have in common."""

    def __init__(self, modules: int = 1, name: str = "step") -> None:
        self.every: list[Fake] = []
        self.modules, self.name = modules, name

    def behave(self, process: Fake) -> None:
        """Do as a process that works."""

    def open(self, words: Sequence[str | Path], env: Mapping[str, str], limit: float) -> Fake:
        self.every.append(Fake(words, env, self))
        return self.every[-1]

    def run(self, of: schedule.Plan) -> rounds.Timed:
        """Take all turns; no process remains, however they end."""
        try:
            return rounds.run(of, open_process=self.open)
        finally:
            assert self.every and all(process.killed for process in self.every)


def test_a_program_is_timed_in_its_rounds_and_its_profile_kept_once() -> None:
    processes = Processes()
    found = processes.run(programs("blis", "mkl", starts=2, calls=3)).runs
    numbers = [(run.start, run.round) for run in found[::2]]
    assert numbers == [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5)]
    asked = [process.asked for process in processes.every]
    assert asked[0] == asked[1] == [{"calls": 3}] * 3 + [{"report": True}]
    assert asked[2] == asked[3] == [{"calls": 3}] * 2 + [{"report": True}]
    for run in found:
        (series,) = run.series
        assert (series.name, series.samples) == ("ntm step", (0.25, 0.25, 0.25))
        assert (series.graph, series.compile) == ("abc", 4.0)
        assert (series.profile is not None) == (run.round in (3, 5))


@pytest.mark.parametrize(
    ("workload", "quick", "words", "calls"),
    [
        ("ntm", True, ["ntm", "--stay", "--profile-calls", "10"], 20),
        ("ntm", False, ["ntm", "--stay", "--profile-calls", "10"], 100),
        ("check_blas", True, ["check_blas", "--stay", "--profile-calls", "0"], 1),
        ("check_blas", False, ["check_blas", "--stay", "--profile-calls", "0"], 10),
        ("lstm", True, ["lstm", "--case", "merged", "--stay", "--profile-calls", "10"], 10),
        ("mlp", True, ["mlp", "--stay", "--profile-calls", "10"], 300),
    ],
)
def test_what_a_program_is_asked(workload: str, quick: bool, words: list[str], calls: int) -> None:
    processes = Processes()
    processes.run(programs("mkl", workload=workload, quick=quick, rounds=1, threads=(2,)))
    assert processes.every[0].words[2:] == ["workload", *words]
    report = [{"report": True}] if words[-1] != "0" else []
    assert processes.every[0].asked == [{"calls": calls}, *report]


def test_a_program_takes_shared_modules_and_a_device_its_expectation(tmp_path: Path) -> None:
    built = dataclasses.replace(candidate("mkl"), place=tmp_path)
    (tmp_path / "etc/theano-stacks").mkdir(parents=True)
    (tmp_path / "etc/theano-stacks/modules").write_text("/cache/modules")
    device = candidate("gpuarray")
    processes = Processes()
    of = dataclasses.replace(programs(rounds=1), candidates=(built, device))
    processes.run(of)
    assert processes.every[0].words[4:6] == ["--share-modules", "/cache/modules"]
    expectation = str(device.place / "etc/theano-stacks/expect.json")
    assert processes.every[1].words[4:6] == ["--expect", expectation]


def test_scan_may_be_fixed_for_all() -> None:
    processes = Processes()
    chosen = (candidate("pip-default"), candidate("mkl"))
    processes.run(dataclasses.replace(programs(fix_scan=True), candidates=chosen))
    sources = REPOSITORY / "recipes/theano-stacks-scan/src"
    assert [process.words[4] for process in processes.every] == ["--fix-scan"] * 2
    assert {process.env["PYTHONPATH"] for process in processes.every} == {str(sources)}
    assert (sources / "theano_stacks_scan.py").is_file()
    (output,) = command.remarks([], True, 0.0, BenchOptions(fix_scan=True))
    assert "theano_stacks_scan" in output


class Counting(Processes):
    """The same; counts at each compilation the processes that were started until then."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[int] = []

    def behave(self, process: Fake) -> None:
        if not process.asked:
            self.counts.append(len(self.every))


@pytest.mark.parametrize(
    ("names", "more", "counts"),
    [
        (("blis", "mkl", "openblas"), {}, [1, 2, 3]),
        (("blis", "mkl", "openblas"), {"together": True}, [3, 3, 3]),
        # Of several starts in a campaign the first compiles at once.
        (("blis", "mkl"), {"starts": 2, "campaign": True}, [2, 2, 3, 4]),
        (("blis", "mkl"), {"starts": 1, "campaign": True}, [1, 2]),
    ],
)
def test_all_may_compile_at_once(
    names: tuple[str, ...], more: dict[str, Any], counts: list[int]
) -> None:
    processes = Counting()
    found = processes.run(programs(*names, **more)).runs
    assert processes.counts == counts
    is_alone = counts[0] == 1
    assert (found[0].series[0].compile is not None) == is_alone


def test_numba_is_timed_where_it_is_the_default() -> None:
    processes = Processes()
    found = processes.run(of_pytensor(rounds=1)).runs
    assert [series.name for series in found[0].series] == ["ntm step", "ntm step, numba"]
    assert all(series.profile for series in found[0].series)
    assert [process.is_numbas for process in processes.every] == [False, True] * 2
    for workload, name in (("check_blas", "pytensor-3.3.7"), ("ntm", "pytensor-2.38.3")):
        other = dataclasses.replace(
            programs(workload=workload, rounds=1), candidates=(candidate("mkl", name),)
        )
        assert {len(run.series) for run in Processes().run(other).runs} == {1}
    quick = Processes().run(of_pytensor(rounds=1, campaign=True))
    assert {len(run.series) for run in quick.runs} == {1}, "a quick campaign leaves it out"


def test_the_compilation_counts_only_with_its_modules_in_the_cache() -> None:
    found = Processes(modules=40).run(programs("mkl", starts=2, rounds=2)).runs
    compiled = [run.series[0].compile for run in found]
    # Operations that are never cached do not count, but a first start may compile everything.
    assert compiled == [None, 4.0]


def test_output_of_a_program_that_is_not_a_measurement() -> None:
    with pytest.raises(StacksError, match=r"theano-1\.0\.5/mkl: ntm: no measurement"):
        Processes(name="nome").run(programs("mkl"))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StacksError("it is broken")])
def test_an_error_ends_the_rounds(error: BaseException) -> None:
    class Failing(Processes):
        def behave(self, process: Fake) -> None:
            if process.asked:
                raise error

    with pytest.raises(type(error)):
        Failing().run(programs("blis", "mkl"))


class Silent(Processes):
    """Numba's processes do not answer what they are asked the nth time; 0: while they compile."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def behave(self, process: Fake) -> None:
        if process.is_numbas and len(process.asked) == self.number:
            raise NoAnswerError("it has not answered")


@pytest.mark.parametrize(("asked", "number"), [(0, 0), (3, 3), (6, 5)])
@pytest.mark.parametrize("together", [False, True])
def test_a_timeout_is_recorded_and_the_other_figures_are_kept(
    asked: int, number: int, together: bool
) -> None:
    found = Silent(asked).run(of_pytensor(together=together, limit=60))
    assert {series.name for run in found.runs for series in run.series} == {"ntm step"}
    assert len(found.runs) == 10, "what it had answered before is left out, the rest is not"
    first, second = sorted(found.missing, key=lambda one: one.subject)
    assert first.model_dump() == {
        "subject": "pytensor-3.3.7/blis",
        "name": "ntm, numba",
        "threads": 2,
        "round": number,
        "limit": 60.0,
        "processor": 0.8,
        "failure": "",
    }
    assert second.subject == "pytensor-3.3.7/mkl"


def test_a_timed_out_process_is_not_started_again() -> None:
    processes = Silent(0)
    found = processes.run(of_pytensor(starts=3))
    assert len(found.missing) == 2 and len(found.runs) == 10
    assert [process.is_numbas for process in processes.every].count(True) == 2
    assert len(processes.every) == 2 * 3 + 2


def test_no_result_where_every_process_times_out() -> None:
    class Dead(Processes):
        def behave(self, process: Fake) -> None:
            raise NoAnswerError("it has not compiled")

    with pytest.raises(NoAnswerError, match="it has not compiled"):
        Dead().run(programs("blis", "mkl"))


def test_in_a_campaign_a_program_that_fails_has_no_figure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Broken(Processes):
        def behave(self, process: Fake) -> None:
            if "mkl" in process.words[0] and len(process.asked) == 2:
                raise CommandError("python\nlast words", found="it was killed by SIGKILL")

    found = Broken().run(programs("blis", "mkl", starts=1, campaign=True))
    assert [run.subject for run in found.runs] == ["theano-1.0.5/blis"] * 5
    (missing,) = found.missing
    assert (missing.subject, missing.name, missing.round) == ("theano-1.0.5/mkl", "ntm", 2)
    assert missing.reason == "failed in round 2: it was killed by SIGKILL: it has no figure"
    assert "theano-1.0.5/mkl has no figure of ntm\nerror: python\nlast words" in (
        capsys.readouterr().err
    )
