"""`build`, `bench` and `run --jobs` on a cluster: jobs, answers, sessions, tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import store
from stacks.bench.schedule import BenchOptions
from stacks.cluster import command, connect, dispatch
from stacks.cluster.connect import Worker
from stacks.cluster.dispatch import Job, Take
from stacks.cluster.messages import Answer, Outcome, RemoteError, open_session
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.use.jobs import Job as UserJob
from stacks.environments.use.jobs import jobs_of
from stacks.variants.load import load_variant
from unit.helpers.benching import BASE, FAST, MACHINE, result, runs
from unit.helpers.cluster import ORDER


def test_a_named_machine_keeps_its_results_where_the_name_is_taken(
    own_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    found = result(runs(BASE, [1.0] * 5), BASE)
    another = MACHINE.model_copy(update={"name": "taken", "cores": 64})
    store.write(own_workspace, found.model_copy(update={"machine": another}))
    for requested, name in (("big", "big"), (None, MACHINE.name), ("taken", MACHINE.name)):
        worker = Worker("tcp://w:1", "w-1", "m", requested)
        assert command._with_machine_name(own_workspace, found, worker).machine.name == name
    assert "results/taken has results of another machine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "failures", "message", "exit_code"),
    [
        ("failed", [UsageError("no worker")], "2 errors on the cluster", 1),
        ("no device", [], "(?s)not everything could be verified.*f/v: no device on a-1", 3),
    ],
)
def test_a_failure_keeps_the_session_and_a_missing_device_ends_it(
    status: Any,
    failures: list[StacksError],
    message: str,
    exit_code: int,
    own_workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stored = open_session(own_workspace, ORDER)
    stored.save("x", Answer())
    outcome = Outcome(variant="f/v", status=status, error=RemoteError(what=f"f/v {status}"))
    answers = [Answer(worker="a-1", outcomes=(outcome,))]
    with pytest.raises(StacksError, match=message) as caught:
        command._Collected(stored, answers, failures).finish()
    assert caught.value.exit_code == exit_code
    assert bool(stored.load("x")) is bool(failures)
    expected = "error: a-1: f/v failed\nerror: no worker\n" if failures else ""
    assert capsys.readouterr().err == expected


def test_a_stack_of_ones_own_is_refused(own_workspace: Workspace, tmp_path: Path) -> None:
    variant = load_variant(own_workspace, "openblas")
    own = variant.model_copy(update={"file": tmp_path / "stack.yaml"})
    with pytest.raises(UsageError, match=r"stack\.yaml: a cluster builds and times") as caught:
        command.build(own_workspace, "tcp://nowhere:1", [own])
    assert "run --jobs N --cluster" in str(caught.value)


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Give the function that sets the answers of machines; it returns who is asked after that."""
    workers = [Worker(f"tcp://{name}:1", f"{name}-1", name, name) for name in ("one", "two")]
    monkeypatch.setattr(connect, "connected", lambda *_: nullcontext())
    monkeypatch.setattr(connect, "workers_of", lambda *_: workers)

    def answered(**answers: Answer) -> list[str]:
        asked = []

        def dispatch(_: object, jobs: Sequence[Job], take: Take) -> list[StacksError]:
            for job in jobs:
                [worker] = [one for one in workers if one.machine == job.machine]
                asked.append(worker.machine)
                named = answers[worker.machine].model_copy(update={"worker": worker.name})
                take(job, worker, named)
            return []

        monkeypatch.setattr(command, "dispatch", dispatch)
        return asked

    return answered


def test_a_timing_in_which_a_variant_failed_is_repeated_and_others_are_not(
    own_workspace: Workspace, answered: Callable[..., list[str]]
) -> None:
    order = ORDER.model_copy(update={"timing": BenchOptions()})
    failed = Outcome(variant="f/v", status="failed", error=RemoteError(what="f/v failed"))
    early, late = (
        result(runs(BASE, [1.0] * 5), BASE, began=f"2026-11-21T0{hour}:30:00Z") for hour in (5, 6)
    )
    asked = answered(one=Answer(result=early), two=Answer(result=early, outcomes=(failed,)))
    found = command._run(own_workspace, "a", order)
    with pytest.raises(StacksError, match="repeat the command: it runs only what failed"):
        found.finish()
    assert asked == ["one", "two"]
    asked = answered(two=Answer(result=late))
    found = command._run(own_workspace, "a", order)
    found.finish()
    assert asked == ["two"] and {each.worker for each in found.answers} == {"one-1", "two-1"}
    # Each timing once, that without the failed variant too.
    stored, _ = store.read_all(own_workspace)
    assert [(one.path.parent.name, one.result.began) for one in stored] == [
        ("one", early.began),
        ("two", early.began),
        ("two", late.began),
    ]
    assert not list(own_workspace.cluster.glob("session-*"))


def jobs(count: int) -> list[UserJob]:
    return jobs_of(["python", ":::", *map(str, range(count))], None)


@pytest.mark.parametrize(
    ("count", "at_once", "machines", "sizes"),
    [(8, 2, 2, [2, 2, 2, 2]), (3, 4, 2, [3]), (17, 1, 2, [3, 3, 3, 3, 3, 2]), (1, 1, 9, [1])],
)
def test_each_machine_gets_several_shares(
    count: int, at_once: int, machines: int, sizes: list[int]
) -> None:
    found = dispatch.shares(jobs(count), at_once, machines)
    assert [len(share) for share in found] == sizes
    assert [job for share in found for job in share] == jobs(count)


def test_text_that_cannot_be_sent_is_named(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant, logs = load_variant(own_workspace, "openblas"), tmp_path / "logs"
    every = jobs_of(["python", ":::", "\udce9"], None)
    with pytest.raises(UsageError, match="a word of the command of job 1 is not UTF-8"):
        dispatch.sweep(own_workspace, "tcp://127.0.0.1:9", variant, every, 1, logs)
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match="the name of this folder is not UTF-8"):
        dispatch.sweep(own_workspace, "tcp://127.0.0.1:9", variant, jobs(1), 1, logs)
    assert not logs.exists()


def test_a_session_keeps_answers_until_it_is_finished(own_workspace: Workspace) -> None:
    first = open_session(own_workspace, ORDER)
    timed = result(runs(BASE, [1.0] * 5), BASE)
    first.save("theano-1.0.5/mkl", Answer(worker="a-1", result=timed))
    stored = open_session(own_workspace, ORDER).load("theano-1.0.5/mkl")
    assert stored and stored.worker == "a-1" and stored.result == timed
    assert first.load("theano-1.0.5/blis") is None
    other = ORDER.model_copy(update={"files": {"a": "2"}})
    assert open_session(own_workspace, other).load("theano-1.0.5/mkl") is None
    [path] = first.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    assert first.load("theano-1.0.5/mkl") is None
    first.remove()
    assert not first.folder.exists()


def test_machines_stand_side_by_side_and_are_not_divided(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slow = result([*runs(BASE, [10.0] * 7), *runs(FAST, [20.0] * 7)], BASE, FAST)
    quick = result(runs(BASE, [90.0] * 7), BASE, machine=MACHINE)
    command.print_side_by_side({"slow-1": slow, "quick-2": quick})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["slow-1", "quick-2"]
    assert lines[1][-3:] == ["base", "10.0", "90.0"]
    assert lines[2][-4:] == ["fast", "20.0", "(2.00)", "-"]
