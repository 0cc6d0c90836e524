"""`build`, `bench` and `run --jobs` on a cluster: which worker gets which job, what is stored."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import distributed
import pytest

from stacks.bench import store
from stacks.bench.schedule import BenchOptions
from stacks.cluster import command
from stacks.cluster import dispatch as dispatching
from stacks.cluster.command import Session
from stacks.cluster.dispatch import Cluster, Job, Worker, connected, dispatch
from stacks.cluster.messages import Answer, Order, Outcome, RemoteError
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.use.jobs import Job as UserJob
from stacks.environments.use.jobs import jobs_of
from stacks.variants.load import load_variant
from unit.helpers.benching import BASE, MACHINE, result, runs

ORDER = Order(commit="c" * 40, files={"a": "1"}, variants=("theano-1.0.5/mkl",))
DONE = Answer()
# Its worker is lost; it runs on.
LOST, RUNNING = "lost", "running"
REFUSED = Answer(error=RemoteError(what="another checkout"), refused=True)


@dataclass(eq=False)
class Sent:
    job: Job
    worker: Worker
    end: Answer | str
    is_stopped: bool = False

    @property
    def future(self) -> Sent:
        return self

    def done(self) -> bool:
        return self.end != RUNNING

    def answer(self) -> Answer | None:
        return self.end if isinstance(self.end, Answer) else None


class Fake:
    """Workers, each of a machine of its own, that answer at once: as `answers` says, else well."""

    def __init__(self, *names: str, **answers: list[Answer | str]) -> None:
        self.present = {name: Worker(name, name, f"theano-stacks-machine-{name}") for name in names}
        self.answers = answers
        self.sent: list[Sent] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def workers(self) -> dict[str, Worker]:
        return dict(self.present)

    def send(self, job: Job, worker: Worker) -> Sent:
        left = self.answers.get(worker.name)
        self.sent.append(Sent(job, worker, left.pop(0) if left else DONE))
        return self.sent[-1]

    def wait(self, tasks: list[Sent], seconds: float) -> None:
        self.meanwhile()

    def stop(self, tasks: list[Sent]) -> None:
        for task in tasks:
            task.is_stopped = True

    def dispatch(self, *names: str) -> tuple[list[str], list[str]]:
        """Do jobs, `NAME` or `NAME@MACHINE`; return who did what, and the failures."""
        stored: list[str] = []
        jobs = [
            Job(name, ORDER, f"theano-stacks-machine-{machine}" if machine else None)
            for name, _, machine in (each.partition("@") for each in names)
        ]
        failures = dispatch(
            cast(Cluster, self),
            jobs,
            lambda job, by, _: stored.append(by.name + job.name),
            patience=3600 if self.present else 0,
        )
        return stored, [error.what for error in failures]


THRICE = "x: its worker was lost 3 times, last a"
LEFT_OUT = "a: is left out:\na: another checkout\n"


@pytest.mark.parametrize(
    ("workers", "ends", "jobs", "sent", "failures", "line"),
    [
        ("ab", {}, "x y z", "ax by az", [], "a: begins z; 2 of 3 done, about 0 s left\n"),
        ("ab", {}, "x@b y@b", "bx by", [], ""),
        ("ab", {"a": [LOST]}, "x", "ax bx", [], "a: was lost; x will run again\n"),
        ("ab", {"a": [LOST, LOST], "b": [LOST]}, "x", "ax bx ax", [THRICE], ""),
        ("ab", {"a": [REFUSED]}, "x y z", "ax by bz bx", [], LEFT_OUT),
        ("ab", {"a": [REFUSED]}, "x@a y@b", "ax by", ["a: another checkout"], ""),
        ("a", {"a": [REFUSED]}, "x", "ax", ["x: no worker is left"], ""),
        ("", {}, "x", "", ["x: no worker is left"], ""),
    ],
)
def test_which_worker_gets_which_job(
    workers: str,
    ends: dict[str, list[Answer | str]],
    jobs: str,
    sent: str,
    failures: list[str],
    line: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake = Fake(*workers, **ends)
    stored, failed = fake.dispatch(*jobs.split())
    assert [one.worker.name + one.job.name for one in fake.sent] == sent.split()
    ended = [one for one in fake.sent if isinstance(one.end, Answer) and not one.end.refused]
    assert stored == [one.worker.name + one.job.name for one in ended]
    assert failed == failures
    assert line in capsys.readouterr().err


def test_a_worker_that_is_not_there_any_more_is_lost() -> None:
    fake = Fake("a", "b", a=[RUNNING])
    fake.meanwhile = lambda: setattr(fake, "present", {"b": fake.present["b"]})
    assert fake.dispatch("x") == (["bx"], [])
    assert all(task.is_stopped for task in fake.sent)


def test_ctrl_c_stops_the_workers() -> None:
    fake = Fake("a", a=[RUNNING])
    fake.meanwhile = lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fake.dispatch("x")
    assert all(task.is_stopped for task in fake.sent)


def scheduler(**resources: int) -> distributed.LocalCluster:
    """Give a scheduler of dask in this process, with one worker."""
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
    return distributed.LocalCluster(n_workers=1, resources=resources, **options)


def test_what_is_no_scheduler_of_this_project(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        scheduler(GPU=2) as local,
        pytest.raises(UsageError, match="has no worker of this project"),
        connected(local.scheduler_address),
    ):
        pass
    monkeypatch.setattr(dispatching, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(UsageError, match="no scheduler answers there"), connected(address):
            pass


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Have a cluster with two machines."""
    fake = Fake("one", "two")

    @contextmanager
    def connected(_: str) -> Iterator[tuple[Fake, list[Worker]]]:
        yield fake, list(fake.present.values())

    monkeypatch.setattr(command, "connected", connected)
    return fake


def test_a_timing_in_which_a_variant_failed_is_repeated_and_others_are_not(
    own_workspace: Workspace, cluster: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    order = ORDER.model_copy(update={"timing": BenchOptions()})
    failed = Outcome(variant="f/v", status="failed", error=RemoteError(what="f/v failed"))
    early, late = (
        result(runs(BASE, [1.0] * 5), BASE, began=f"2026-11-21T0{hour}:30:00Z") for hour in (5, 6)
    )
    # The name of the first is taken by another machine.
    another = MACHINE.model_copy(update={"name": "one", "cores": 64})
    store.write(own_workspace, early.model_copy(update={"machine": another}))
    cluster.answers = {
        "one": [Answer(result=early)],
        "two": [Answer(result=early, outcomes=(failed,)), Answer(result=late)],
    }
    shown: list[list[str]] = []

    def show(answers: Any) -> None:
        shown.append([answer.result.machine.name for answer in answers])

    with pytest.raises(StacksError, match=r"1 error on the cluster(.|\n)*it runs only what failed"):
        command.run(own_workspace, "a", order, show)
    command.run(own_workspace, "a", order, show)
    assert [one.worker.name for one in cluster.sent] == ["one", "two", "two"]
    assert shown == [[MACHINE.name, "two"]] * 2
    # Each timing once, that without the failed variant too.
    found = [(one.path.parent.name, one.result.began) for one in store.read_all(own_workspace)[0]]
    assert sorted(found) == [
        (MACHINE.name, early.began),
        ("one", early.began),
        ("two", early.began),
        ("two", late.began),
    ]
    assert not list(own_workspace.cluster.glob("session-*"))
    errors = capsys.readouterr().err
    assert "results/one has results of another machine" in errors
    assert "error: two: f/v failed\n" in errors


def test_a_missing_device_is_no_failure(own_workspace: Workspace, cluster: Fake) -> None:
    error = RemoteError(what="f/v no device")
    outcome = Outcome(variant="f/v", status="no device", error=error, report={"ok": False})
    cluster.answers = {"one": [Answer(outcomes=(outcome,))]}
    with pytest.raises(StacksError, match=r"found: +f/v: no device on one") as caught:
        command.run(own_workspace, "a", ORDER, lambda _: None)
    assert caught.value.exit_code == 3
    assert (own_workspace.cluster / "reports/one/f/v.json").read_text() == '{\n  "ok": false\n}\n'
    assert not list(own_workspace.cluster.glob("session-*"))


def test_a_session_keeps_answers_until_it_is_finished(own_workspace: Workspace) -> None:
    first, job = Session.of(own_workspace, ORDER), Job("theano-1.0.5/mkl", ORDER)
    answer = Answer(worker="a-1", result=result(runs(BASE, [1.0] * 5), BASE))
    first.save(job, answer)
    assert Session.of(own_workspace, ORDER).load(job) == answer
    assert first.load(Job("theano-1.0.5/blis", ORDER)) is None
    other = ORDER.model_copy(update={"files": {"a": "2"}})
    assert Session.of(own_workspace, other).load(job) is None
    [path] = first.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    assert first.load(job) is None


def jobs(count: int) -> list[UserJob]:
    return jobs_of(["python", ":::", *map(str, range(count))], None)


@pytest.mark.parametrize(
    ("count", "at_once", "machines", "sizes"),
    [(8, 2, 2, [2, 2, 2, 2]), (3, 4, 2, [3]), (17, 1, 2, [3, 3, 3, 3, 3, 2]), (1, 1, 9, [1])],
)
def test_each_machine_gets_several_shares(
    count: int, at_once: int, machines: int, sizes: list[int]
) -> None:
    found = command.shares(jobs(count), at_once, machines)
    assert [len(share) for share in found] == sizes
    assert [job for share in found for job in share] == jobs(count)


def test_text_that_cannot_be_sent_is_named(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant, logs = load_variant(own_workspace, "openblas"), tmp_path / "logs"
    every = jobs_of(["python", ":::", "\udce9"], None)
    with pytest.raises(UsageError, match=r"only UTF-8 can be sent(.|\n)*'\\udce9'"):
        command.sweep(own_workspace, "tcp://127.0.0.1:9", variant, every, 1, logs)
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match=r"caf\\udce9"):
        command.sweep(own_workspace, "tcp://127.0.0.1:9", variant, jobs(1), 1, logs)
    assert not logs.exists()
