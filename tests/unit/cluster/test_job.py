from __future__ import annotations

import io
import sys
import threading

import pytest

from stacks.cluster import job


def test_one_worker_of_a_machine_waits_for_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    entered = threading.Event()
    # capsys would lose what another thread writes while it is read.
    monkeypatch.setattr(sys, "stderr", output := io.StringIO())

    def other() -> None:
        with job.machine_lock("a machine of a test"):
            entered.set()

    thread = threading.Thread(target=other)
    with job.machine_lock("a machine of a test"), job.machine_lock("another machine of a test"):
        thread.start()
        while "waiting: another worker" not in output.getvalue():
            assert not entered.is_set()
    thread.join()
    assert entered.is_set()


def test_a_machine_may_have_a_long_name() -> None:
    with job.machine_lock("x" * 200):
        pass
