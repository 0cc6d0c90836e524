"""Programs that stay: started as often as was asked, timed turn by turn, none left behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import command, rounds, schedule
from stacks.bench.candidates import Candidate
from stacks.bench.options import BenchOptions
from stacks.bench.program import TimedProgram
from stacks.bench.result import NUMBA
from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.process import CommandError
from unit.helpers import benching
from unit.helpers.benching import candidate
from unit.helpers.profiles import case, profile, tables

PROFILE = profile(tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py"))


class Fake(SuspendedProcess):
    """A process that has compiled, and whose calls take a quarter of a second each."""

    every: list[Fake]

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str], limit: float) -> None:
        self.words, self.asked, self.killed = [str(w) for w in words], list[Any](), False
        self.every.append(self)

    def answer(self) -> dict[str, Any]:
        known = {"graph": "abc", "compile": 4.0, "modules": 1, "first_call": 0.5}
        return {"ready": [{"name": "step", **known}]}

    def ask(self, **question: Any) -> dict[str, Any]:
        assert not self.killed
        self.asked.append(question)
        if "calls" in question:
            return {"seconds": {"step": [0.25] * question["calls"]}}
        return {"report": {"cases": [{**case(PROFILE), "name": "step"}]}}

    def processor_seconds(self) -> float:
        return 0.0

    def kill(self) -> None:
        self.killed = True


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> list[Fake]:
    monkeypatch.setattr(Fake, "every", [], raising=False)
    return Fake.every


def plan(*names: str, **more: Any) -> schedule.Plan:
    return benching.plan(*names, **{"workloads": ("ntm",), "rounds": 5, **more})


def started(turn: schedule.Turn) -> TimedProgram:
    return TimedProgram(turn.candidate, turn.workload, [], {}, 1.0, start=Fake)


def ready(of: Candidate) -> TimedProgram:
    program = TimedProgram(of, "ntm", [], {}, 1.0, start=Fake)
    program.wait()
    return program


def test_a_program_is_timed_in_its_rounds_and_its_profile_kept_once(fakes: list[Fake]) -> None:
    found = rounds.run(plan("blis", "mkl", starts=2, calls=3), start=started).runs
    assert [(run.start, run.round) for run in found[::2]] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 4),
        (2, 5),
    ]
    assert len(fakes) == 4 and all(fake.killed for fake in fakes)
    assert fakes[0].asked == [{"calls": 3}] * 3 + [{"report": True}]
    assert fakes[2].asked == [{"calls": 3}] * 2 + [{"report": True}]
    for run in found:
        (series,) = run.series
        assert (series.name, series.samples) == ("ntm step", (0.25, 0.25, 0.25))
        assert (series.graph, series.compile) == ("abc", 4.0)
        assert (series.profile is not None) == (run.round in (3, 5))


@pytest.mark.parametrize("error", [KeyboardInterrupt, StacksError("it hangs")])
def test_nothing_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, fakes: list[Fake], error: Any
) -> None:
    def fail(self: TimedProgram, calls: int) -> None:
        raise error

    monkeypatch.setattr(TimedProgram, "time", fail)
    with pytest.raises((KeyboardInterrupt, StacksError)):
        rounds.run(plan("blis", "mkl"), start=started)
    assert len(fakes) == 2 and all(fake.killed for fake in fakes)


def test_all_may_compile_at_once(monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]) -> None:
    alive: list[int] = []
    answer = Fake.answer

    def counted(self: Fake) -> dict[str, Any]:
        alive.append(len(fakes))
        return answer(self)

    monkeypatch.setattr(Fake, "answer", counted)
    rounds.run(plan("blis", "mkl", "openblas"), start=started)
    rounds.run(plan("blis", "mkl", "openblas", together=True), start=started)
    assert alive == [1, 2, 3, 6, 6, 6]
    alive.clear()
    rounds.run(plan("blis", "mkl", starts=2, together_first=True), start=started)
    assert alive == [8, 8, 9, 10], "of several starts the first compiles at once"
    alive.clear()
    rounds.run(plan("blis", "mkl", starts=1, together_first=True), start=started)
    assert alive == [11, 12]


def test_on_pytensor_numba_is_timed_too(fakes: list[Fake]) -> None:
    found = ready(candidate("mkl", "pytensor-3.3.7"))
    assert [series.name for series in found.time(2)] == ["ntm step", "ntm step, numba"]
    assert fakes[0].words[2:] == ["workload", "ntm", "--stay", "--profile-calls", "10"]
    assert fakes[1].words[-2:] == ["--linker", "numba"]
    assert sorted(found.profiles()) == ["ntm step", "ntm step, numba"]
    assert found.first_calls() == 1.0
    found._cases[NUMBA]["step"]["first_call"] = 800.0
    assert found.first_calls() == 1.0, "numba has compiled in it"


def test_numba_may_be_left_out(fakes: list[Fake]) -> None:
    one = dataclasses.replace(
        plan(with_numba=False), candidates=(candidate("mkl", "pytensor-3.3.7"),)
    )
    crew = rounds.Crew(one)
    turn = next(iter(schedule.turns(one)))
    assert crew.without(turn) == [NUMBA]
    program = TimedProgram(turn.candidate, "ntm", [], {}, 1.0, without=[NUMBA], start=Fake)
    program.wait()
    assert [series.name for series in program.time(1)] == ["ntm step"]
    TimedProgram(candidate("mkl"), "ntm", [], {}, 1.0, without=[NUMBA], start=Fake)


def test_the_compilation_counts_only_with_its_modules_in_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warm = Fake.answer

    def cold(self: Fake) -> dict[str, Any]:
        found = warm(self)
        found["ready"][0]["modules"] = 40
        return found

    monkeypatch.setattr(Fake, "answer", cold)
    (series,) = ready(candidate("mkl")).time(1)
    assert series.compile is None
    second = TimedProgram(candidate("mkl"), "ntm", [], {}, 1.0, warm=True, start=Fake)
    second.wait()
    (series,) = second.time(1)
    assert series.compile == 4.0, "operations that are never cached do not count"


def test_output_that_is_not_a_measurement_is_an_error(
    monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]
) -> None:
    monkeypatch.setattr(Fake, "answer", lambda self: {"ready": [{"nome": "step"}]})
    with pytest.raises(StacksError, match=r"theano-1\.0\.5/mkl: ntm: no measurement"):
        rounds.run(plan("mkl"), start=started)
    assert fakes[0].killed


class Silent(Fake):
    """The same, but numba's does not answer what it is asked the `asked`-th time; 0: compiling."""

    asked_for: int

    @property
    def is_silent(self) -> bool:
        return "numba" in self.words and len(self.asked) == self.asked_for

    def answer(self) -> dict[str, Any]:
        if self.is_silent:
            raise NoAnswerError("it has not compiled")
        return super().answer()

    def ask(self, **question: Any) -> dict[str, Any]:
        found = super().ask(**question)
        if self.is_silent:
            raise NoAnswerError("it has not answered")
        return found

    def processor_seconds(self) -> float:
        return 0.75


def timed_on_pytensor(monkeypatch: pytest.MonkeyPatch, asked_for: int, **more: Any) -> rounds.Timed:
    monkeypatch.setattr(Silent, "asked_for", asked_for, raising=False)
    chosen = (candidate("mkl", "pytensor-3.3.7"), candidate("blis", "pytensor-3.3.7"))
    started_without: list[list[str]] = []

    def begin(crew: rounds.Crew, turn: schedule.Turn) -> TimedProgram:
        left_out = crew.without(turn)
        started_without.append(left_out)
        return TimedProgram(
            turn.candidate, turn.workload, [], {}, 60.0, without=left_out, start=Silent
        )

    monkeypatch.setattr(rounds.Crew, "_started", begin)
    return rounds.run(dataclasses.replace(plan(**more), candidates=chosen, limit=60.0))


@pytest.mark.parametrize(("asked_for", "number"), [(0, 0), (3, 3), (6, 5)])
@pytest.mark.parametrize("together", [False, True])
def test_a_timeout_is_recorded_and_the_other_figures_are_kept(
    monkeypatch: pytest.MonkeyPatch, fakes: list[Fake], asked_for: int, number: int, together: bool
) -> None:
    found = timed_on_pytensor(monkeypatch, asked_for, together=together)
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
    assert all(fake.killed for fake in fakes)


def test_a_timed_out_process_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]
) -> None:
    found = timed_on_pytensor(monkeypatch, 0, starts=3)
    assert len(found.missing) == 2 and len(found.runs) == 10
    assert ["numba" in fake.words for fake in fakes].count(True) == 2
    assert len(fakes) == 2 * 3 + 2


def test_no_result_where_every_process_times_out(
    monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]
) -> None:
    def silent(self: Fake) -> dict[str, Any]:
        raise NoAnswerError("it has not compiled")

    monkeypatch.setattr(Fake, "answer", silent)
    with pytest.raises(NoAnswerError, match="it has not compiled"):
        rounds.run(plan("blis", "mkl"), start=started)
    assert len(fakes) == 2 and all(fake.killed for fake in fakes)


class Broken(Fake):
    """The same, but that of MKL is killed in its second round."""

    def ask(self, **question: Any) -> dict[str, Any]:
        answer = super().ask(**question)
        if "mkl" in self.words[0] and len(self.asked) == 2:
            raise CommandError("python\nlast words", found="it was killed by SIGKILL")
        return answer


def test_a_program_that_fails_has_no_figure_and_the_others_are_timed(
    fakes: list[Fake], capsys: pytest.CaptureFixture[str]
) -> None:
    def start(turn: schedule.Turn) -> TimedProgram:
        return TimedProgram(
            turn.candidate, turn.workload, [], {}, 1.0, keep_going=True, start=Broken
        )

    found = rounds.run(plan("blis", "mkl", starts=1, keep_going=True), start=start)
    assert [run.subject for run in found.runs] == ["theano-1.0.5/blis"] * 5
    (missing,) = found.missing
    assert (missing.subject, missing.name, missing.round) == ("theano-1.0.5/mkl", "ntm", 2)
    assert missing.reason == "failed in round 2: it was killed by SIGKILL: it has no figure"
    assert "theano-1.0.5/mkl has no figure of ntm\nerror: python\nlast words" in (
        capsys.readouterr().err
    )
    assert all(fake.killed for fake in fakes)


def test_scan_may_be_fixed_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    observed: list[tuple[list[str], str | None]] = []

    class Seen(TimedProgram):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            observed.append((arguments[2], arguments[3].get("PYTHONPATH")))
            super().__init__(*arguments, **named, start=Fake)

    monkeypatch.setattr(rounds, "TimedProgram", Seen)
    chosen = (candidate("pip-default"), candidate("mkl", "pytensor-3.3.7"))
    rounds.run(dataclasses.replace(plan(fix_scan=True), candidates=chosen))
    sources = REPOSITORY / "recipes/theano-stacks-scan/src"
    assert observed == [(["--fix-scan"], str(sources))] * 2
    assert (sources / "theano_stacks_scan.py").is_file()
    (output,) = command.remarks([], True, 0.0, BenchOptions(fix_scan=True))
    assert "theano_stacks_scan" in output


def test_the_program_of_a_device_is_told_what_to_wait_for(fakes: list[Fake]) -> None:
    of = candidate("gpuarray")
    ready(of)
    assert fakes[0].words[4:6] == ["--expect", str(of.place / "etc/theano-stacks/expect.json")]
