"""The program that multiplies matrices for a moment."""

import json
import os
import time

import pytest

from unit.helpers.suite import suite_module

probe = suite_module("blas.threads")


def test_the_times_of_a_product_that_keeps_one_thread_busy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probe, "product_of", lambda path: lambda: sum(range(10000)))
    probe.main(["/lib/x.so"])
    times = json.loads(capsys.readouterr().out)
    assert sorted(times) == ["calls", "cpu", "fork", "own", "wall"]
    assert times["calls"] >= 2
    # The two clocks are read one after the other.
    assert times["cpu"] + 0.01 >= times["own"] > 0 and times["wall"] >= 0.35


def test_a_forked_process_that_waits_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()
    monkeypatch.setattr(probe, "LIMIT", 0.1)
    found = probe.fault_in_child(lambda: time.sleep(60 if os.getpid() != parent else 0))
    assert found == "never ends its own"


def test_a_forked_process_that_fails_does_not_end_well() -> None:
    assert probe.fault_in_child(lambda: os._exit(3)) == "crashes in its own"
    assert probe.fault_in_child(lambda: None) == ""
