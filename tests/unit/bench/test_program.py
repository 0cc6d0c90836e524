"""Programs that stay: started as often as was asked, timed turn by turn, none left behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import command, probe, program, rounds, schedule
from stacks.bench.candidates import Candidate
from stacks.bench.options import BenchOptions
from stacks.bench.program import TimedProgram
from stacks.bench.result import NUMBA
from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments import settings
from stacks.locks.lock import Lock
from stacks.variants.variant import load_variant
from unit.helpers.profiles import case, profile, tables

LOCK = Lock((), (), "a" * 64, "", "")
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


def candidate(workspace: Workspace, name: str, framework: str = "theano-1.0.5") -> Candidate:
    return Candidate(load_variant(workspace, name, framework), Path("/p") / name, LOCK, None)


def plan(*names: str, **more: Any) -> schedule.Plan:
    given: dict[str, Any] = {"workloads": ("ntm",), "threads": (1, 2), "rounds": 5, "quick": True}
    return schedule.Plan(candidates=tuple(map(candidate, names)), **(given | more))


def started(turn: schedule.Turn) -> TimedProgram:
    return TimedProgram(turn.candidate, turn.workload, [], {}, 1.0, start=Fake)


def ready(of: Candidate) -> TimedProgram:
    program = TimedProgram(of, "ntm", [], {}, 1.0, start=Fake)
    program.wait()
    return program


def told(of: schedule.Plan) -> list[tuple[int, int, str]]:
    return [(turn.start, turn.round, turn.candidate.variant.name) for turn in schedule.turns(of)]


def test_all_are_started_before_the_first_is_timed_and_the_rounds_turn(
    workspace: Workspace,
) -> None:
    assert told(plan(workspace, "blis", "mkl", rounds=3, starts=2)) == [
        (1, 0, "blis"), (1, 0, "mkl"),
        (1, 1, "blis"), (1, 1, "mkl"),
        (1, 2, "mkl"), (1, 2, "blis"),
        (2, 0, "mkl"), (2, 0, "blis"),
        (2, 3, "blis"), (2, 3, "mkl"),
    ]  # fmt: skip


def test_what_is_slow_to_start_is_started_once_and_on_all_threads_unless_asked(
    workspace: Workspace,
) -> None:
    few = plan(workspace, "blis")
    assert {turn.start for turn in schedule.turns(few)} == {1} and schedule.counts_of(
        "ntm", few
    ) == (2,)
    asked = plan(workspace, "blis", starts=9, every_count=True)
    assert schedule.starts_of("ntm", asked) == 5, "no more than rounds"
    assert schedule.counts_of("ntm", asked) == (1, 2)
    assert schedule.starts_of("lstm", few) == 5 and schedule.counts_of("lstm", few) == (1, 2)
    assert [turn.last for turn in schedule.turns(few)] == [False] * 5 + [True]


def test_what_is_left_is_told_from_the_first_calls_on(workspace: Workspace) -> None:
    every = list(schedule.turns(plan(workspace, "blis", "mkl", rounds=2)))
    assert schedule.remaining([(every[0], 300.0)], every[1:]) is None
    expected = [(every[0], 300.0), (every[2], 10.0)]
    assert schedule.remaining(expected, every[1:]) == 300 + 2 * 10 + 2 * 12
    assert schedule.remaining([*expected, (every[2], 5.0)], every[3:]) == 5 + 2 * 6


def test_a_program_is_timed_in_its_rounds_and_its_profile_kept_once(
    workspace: Workspace, fakes: list[Fake]
) -> None:
    found = rounds.run(plan(workspace, "blis", "mkl", starts=2, calls=3), start=started).runs
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
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fakes: list[Fake], error: Any
) -> None:
    def fail(self: TimedProgram, calls: int) -> None:
        raise error

    monkeypatch.setattr(TimedProgram, "time", fail)
    with pytest.raises((KeyboardInterrupt, StacksError)):
        rounds.run(plan(workspace, "blis", "mkl"), start=started)
    assert len(fakes) == 2 and all(fake.killed for fake in fakes)


def test_all_may_compile_at_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]
) -> None:
    alive: list[int] = []
    answer = Fake.answer

    def counted(self: Fake) -> dict[str, Any]:
        alive.append(len(fakes))
        return answer(self)

    monkeypatch.setattr(Fake, "answer", counted)
    rounds.run(plan(workspace, "blis", "mkl", "openblas"), start=started)
    rounds.run(plan(workspace, "blis", "mkl", "openblas", together=True), start=started)
    assert alive == [1, 2, 3, 6, 6, 6]


def test_on_pytensor_numba_is_timed_too(workspace: Workspace, fakes: list[Fake]) -> None:
    found = ready(candidate(workspace, "mkl", "pytensor-3.0.7"))
    assert [series.name for series in found.time(2)] == ["ntm step", "ntm step, numba"]
    assert fakes[0].words[2:] == ["workload", "ntm", "--stay", "--profile-calls", "20"]
    assert fakes[1].words[-2:] == ["--linker", "numba"]
    assert sorted(found.profiles()) == ["ntm step", "ntm step, numba"]
    assert found.first_calls() == 1.0
    found._cases[NUMBA]["step"]["first_call"] = 800.0
    assert found.first_calls() == 1.0, "numba has compiled in it"


def test_the_compilation_counts_only_with_its_modules_in_the_cache(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warm = Fake.answer

    def cold(self: Fake) -> dict[str, Any]:
        found = warm(self)
        found["ready"][0]["modules"] = 40
        return found

    monkeypatch.setattr(Fake, "answer", cold)
    (series,) = ready(candidate(workspace, "mkl")).time(1)
    assert series.compile is None


def test_words_that_are_no_measurement(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]
) -> None:
    monkeypatch.setattr(Fake, "answer", lambda self: {"ready": [{"nome": "step"}]})
    with pytest.raises(StacksError, match=r"theano-1\.0\.5/mkl: ntm: no measurement"):
        rounds.run(plan(workspace, "mkl"), start=started)
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


def timed_on_pytensor(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, asked_for: int, **more: Any
) -> rounds.Timed:
    monkeypatch.setattr(Silent, "asked_for", asked_for, raising=False)
    chosen = (
        candidate(workspace, "mkl", "pytensor-3.0.7"),
        candidate(workspace, "blis", "pytensor-3.0.7"),
    )
    started_without: list[list[str]] = []

    def begin(crew: rounds.Crew, turn: schedule.Turn) -> TimedProgram:
        left_out = crew.without(turn)
        started_without.append(left_out)
        return TimedProgram(
            turn.candidate, turn.workload, [], {}, 60.0, without=left_out, start=Silent
        )

    monkeypatch.setattr(rounds.Crew, "_started", begin)
    return rounds.run(dataclasses.replace(plan(workspace, **more), candidates=chosen, limit=60.0))


@pytest.mark.parametrize(("asked_for", "number"), [(0, 0), (3, 3), (6, 5)])
@pytest.mark.parametrize("together", [False, True])
def test_what_does_not_answer_is_named_and_the_rest_is_kept(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    fakes: list[Fake],
    asked_for: int,
    number: int,
    together: bool,
) -> None:
    found = timed_on_pytensor(workspace, monkeypatch, asked_for, together=together)
    assert {series.name for run in found.runs for series in run.series} == {"ntm step"}
    assert len(found.runs) == 10, "what it had answered before is left out, the rest is not"
    first, second = sorted(found.missing, key=lambda one: one.subject)
    assert first.model_dump() == {
        "subject": "pytensor-3.0.7/blis",
        "name": "ntm, numba",
        "threads": 2,
        "round": number,
        "limit": 60.0,
        "processor": 0.8,
    }
    assert second.subject == "pytensor-3.0.7/mkl"
    assert all(fake.killed for fake in fakes)


def test_what_did_not_answer_is_not_started_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]
) -> None:
    found = timed_on_pytensor(workspace, monkeypatch, 0, starts=3)
    assert len(found.missing) == 2 and len(found.runs) == 10
    assert ["numba" in fake.words for fake in fakes].count(True) == 2
    assert len(fakes) == 2 * 3 + 2


def test_where_nothing_answers_nothing_is_kept(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fakes: list[Fake]
) -> None:
    def silent(self: Fake) -> dict[str, Any]:
        raise NoAnswerError("it has not compiled")

    monkeypatch.setattr(Fake, "answer", silent)
    with pytest.raises(NoAnswerError, match="it has not compiled"):
        rounds.run(plan(workspace, "blis", "mkl"), start=started)
    assert len(fakes) == 2 and all(fake.killed for fake in fakes)


def test_how_often_a_program_is_called() -> None:
    assert probe.options_of("check_blas", True) == ["--case", "2000"]
    assert probe.options_of("check_blas", False) == probe.options_of("ntm", True) == []
    assert [probe.calls_of("ntm", quick) for quick in (True, False)] == [20, 100]
    assert probe.calls_of("check_blas", True) == 10
    assert program.profile_calls("check_blas") == 1


def test_scan_may_be_fixed_for_all(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], str | None]] = []

    class Seen(TimedProgram):
        def __init__(self, *given: Any, **named: Any) -> None:
            seen.append((given[2], given[3].get("PYTHONPATH")))
            super().__init__(*given, **named, start=Fake)

    monkeypatch.setattr(rounds, "Program", Seen)
    chosen = (candidate(workspace, "pip-default"), candidate(workspace, "mkl", "pytensor-3.0.7"))
    rounds.run(dataclasses.replace(plan(workspace, fix_scan=True), candidates=chosen))
    assert seen == [(["--fix-scan"], str(settings.SITE_FOLDER))] * 2
    assert (settings.SITE_FOLDER / "theano_stacks_scan.py").is_file()
    (said,) = command.remarks([], True, 0.0, BenchOptions(fix_scan=True))
    assert "theano_stacks_scan" in said


def test_a_fix_that_was_not_made_for_a_framework_is_refused(workspace: Workspace) -> None:
    command._check_fixes(
        workspace,
        [
            candidate(workspace, "mkl", "pytensor-3.0.7"),
            candidate(workspace, "mkl", "theano-0.8.2"),
        ],
    )
    with pytest.raises(StacksError, match=r"theano_stacks_scan is not made for aesara-2\.9\.4"):
        command._check_fixes(
            workspace, [candidate(workspace, "mkl"), candidate(workspace, "mkl", "aesara-2.9.4")]
        )
