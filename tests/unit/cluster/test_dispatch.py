"""Which worker gets which job, and what happens where one is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import distributed
import pytest

from stacks.cluster import dispatch as dispatch_module
from stacks.cluster.connect import Cluster, Task, Worker
from stacks.cluster.dispatch import Job, dispatch
from stacks.cluster.messages import Answer, Order, RemoteError

DONE = Answer()
# Its worker is lost; it runs on.
LOST, RUNNING = "lost", "running"
REFUSED = Answer(error=RemoteError(what="another checkout"), refused=True)


class Sent:
    def __init__(self, end: Answer | str) -> None:
        self.end, self.has_ended, self.stopped = end, end != RUNNING, False

    def answer(self) -> Answer | None:
        return self.end if isinstance(self.end, Answer) else None


class Fake:
    """Workers that answer at once: as `answers` says, else well."""

    def __init__(self, *workers: Worker) -> None:
        self.present = {worker.address: worker for worker in workers}
        self.answers: dict[str, list[Answer | str]] = {}
        self.sent: list[tuple[str, Order]] = []
        self.tasks: list[Sent] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def workers(self) -> dict[str, Worker]:
        return dict(self.present)

    def send(self, worker: Worker, text: str) -> Sent:
        self.sent.append((worker.name, Order.model_validate_json(text)))
        answers = self.answers.get(worker.name)
        self.tasks.append(Sent(answers.pop(0) if answers else DONE))
        return self.tasks[-1]

    def wait(self, tasks: Sequence[Sent], seconds: float) -> None:
        self.meanwhile()

    def stop(self, tasks: Sequence[Sent]) -> None:
        for task in tasks:
            task.stopped = True

    @property
    def to(self) -> list[tuple[str, str]]:
        return [(name, order.variants[0]) for name, order in self.sent]


def worker(name: str, machine: str = "") -> Worker:
    return Worker(f"tcp://{name}", name, machine or name, None)


def job(variant: str, machine: str | None = None) -> Job:
    order = Order(commit=None, files={}, machine="", variants=(variant,))
    return Job(variant, order, machine)


def done(fake: Fake, *jobs: Job) -> tuple[list[tuple[str, str]], list[str]]:
    stored: list[tuple[str, str]] = []
    failures = dispatch(
        cast(Cluster, fake), jobs, lambda job, by, _: stored.append((job.name, by.name)), patience=0
    )
    return stored, [error.what for error in failures]


def test_jobs_go_to_whoever_is_free(capsys: pytest.CaptureFixture[str]) -> None:
    fake = Fake(worker("a"), worker("b"))
    stored, failures = done(fake, job("x"), job("y"), job("z"))
    assert stored == [("x", "a"), ("y", "b"), ("z", "a")] and failures == []
    assert fake.sent[1][1].machine == "b"
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["a: begins x", "b: begins y"]
    assert lines[2].endswith(": begins z; 2 of 3 done, about 0 s left")


def test_two_workers_of_one_machine_do_one_thing_at_a_time() -> None:
    fake = Fake(worker("a1", "a"), worker("a2", "a"))
    busy: list[int] = []
    fake.meanwhile = lambda: busy.append(sum(not t.has_ended for t in fake.tasks))
    assert done(fake, job("x"), job("y"))[0] == [("x", "a1"), ("y", "a1")]
    assert len(fake.sent) == 2 and len(busy) == 2
    assert done(Fake(worker("a"), worker("b")), job("x", "b"))[0] == [("x", "b")]


def test_a_job_whose_worker_was_lost_goes_to_another_machine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake = Fake(worker("a"), worker("b"))
    fake.answers["a"] = [LOST]
    stored, failures = done(fake, job("x"))
    assert fake.to == [("a", "x"), ("b", "x")] and stored == [("x", "b")] and failures == []
    assert "a: was lost; x will run again" in capsys.readouterr().err


def test_a_worker_that_is_not_there_any_more_is_lost() -> None:
    fake = Fake(worker("a"), worker("b"))
    fake.answers["a"] = [RUNNING]
    fake.meanwhile = lambda: setattr(fake, "present", {"tcp://b": worker("b")})
    assert done(fake, job("x"))[0] == [("x", "b")]
    assert [task.stopped for task in fake.tasks] == [True, False]


def test_a_job_that_takes_its_workers_with_it_is_given_up() -> None:
    fake = Fake(worker("a"), worker("b"))
    fake.answers = {"a": [LOST] * 9, "b": [LOST] * 9}
    stored, failures = done(fake, job("x"))
    assert len(fake.sent) == dispatch_module.TRIES and stored == []
    assert failures == ["x: its worker was lost 3 times, last a"]


def test_a_machine_with_another_checkout_is_left_out_and_others_do_its_jobs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake = Fake(worker("a"), worker("b"))
    fake.answers["a"] = [REFUSED]
    stored, failures = done(fake, job("x"), job("y"), job("z"))
    assert sorted(stored) == [("x", "b"), ("y", "b"), ("z", "b")] and failures == []
    assert capsys.readouterr().err.count("a: is left out:\na: another checkout") == 1


def test_without_workers_and_where_all_refuse_it_ends() -> None:
    assert done(Fake(), job("x")) == ([], ["x: no worker is left"])
    fake = Fake(worker("a"))
    fake.answers["a"] = [REFUSED]
    error = dispatch(cast(Cluster, fake), [job("x")], lambda *_: None, patience=3600)
    assert [e.what for e in error] == ["x: no worker is left"]


def test_a_timing_that_was_refused_is_a_failure_of_its_own() -> None:
    fake = Fake(worker("a"), worker("b"))
    fake.answers["a"] = [REFUSED]
    stored, failures = done(fake, job("x", "a"), job("y", "b"))
    assert stored == [("y", "b")] and failures == ["a: another checkout"]


class Future:
    """A task of dask that has ended so."""

    def __init__(self, end: str | Exception) -> None:
        self.end, self.status = end, "error" if isinstance(end, Exception) else "finished"

    def result(self) -> object:
        return self.end

    exception = result


@pytest.mark.parametrize(
    ("end", "what", "refused"),
    [
        (ModuleNotFoundError("No module named 'stacks'"), "this worker cannot run the job", True),
        ('{"outcomes": 3}', "its answer cannot be read", False),
        ("", None, False),
        (distributed.KilledWorker("t", cast(Any, None), 1), None, False),
    ],
)
def test_the_ends_of_a_task(end: str | Exception, what: str | None, refused: bool) -> None:
    answer = Task(cast(Any, Future(end))).answer()
    assert (answer and answer.error and answer.error.what) == what
    if answer and refused:
        assert answer.refused and answer.error and "./invoke worker" in str(answer.error.fix)
        assert answer.error.found == "ModuleNotFoundError: No module named 'stacks'"


def test_an_interrupt_stops_the_running_jobs() -> None:
    fake = Fake(worker("a"), worker("b"))
    fake.answers = {"a": [RUNNING], "b": [RUNNING]}

    def interrupt() -> None:
        raise KeyboardInterrupt

    fake.meanwhile = interrupt
    with pytest.raises(KeyboardInterrupt):
        done(fake, job("x"), job("y"))
    assert [task.stopped for task in fake.tasks] == [True, True]
