from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from stacks.bench import machine
from stacks.core import cores


def test_second_threads_of_cores_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    for number, siblings in enumerate(["0-1", "0-1", "2-3", "2-3"]):
        folder = tmp_path / f"cpu{number}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    assert machine.processors(2, tmp_path) == [0, 2]
    assert machine.processors(4, tmp_path) == [0, 2, 1, 3]
    assert machine.processors(3, tmp_path / "none") == [0, 1, 2]


def test_a_run_is_kept_to_its_processors_and_let_go() -> None:
    before = os.sched_getaffinity(0)
    with machine.pinned_to([min(before)]) as stored:
        assert stored and os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before
    with machine.pinned_to([100000]) as stored:
        assert not stored
    assert os.sched_getaffinity(0) == before


def test_a_machine_is_described_from_its_reports(tmp_path: Path) -> None:
    cpu = "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"
    message = {"cpu": cpu, "vendor": "GenuineIntel", "cores": 4, "memory": 1 << 34}
    message |= {"kernel": "6.1", "glibc": "2.36"}
    peaks = [[{"dtype": "float64", "threads": 1, "gflops": rate}] for rate in (50.0, 55.0)]
    text = "cpu family\t: 6\nmodel\t\t: 79\nmodel name\t: Intel\nstepping\t: 1\nmicrocode\t: 0xb\n"
    (tmp_path / "cpuinfo").write_text(text)
    reports = [{"machine": {**message, "peak": peak}} for peak in peaks]
    found = machine.describe(reports, tmp_path / "cpuinfo")
    assert found.name == "intel-xeon-e5-2680-v4-4-cores"
    assert (found.model, found.microcode) == ("6 79 1", "0xb")
    assert [peak.gflops for peak in found.peak] == [55.0]


def test_a_report_of_another_machine_does_not_count_here(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("model name\t: Here\n")
    message = {"cpu": "Here", "cores": cores.usable(), "kernel": platform.release()}
    assert machine.is_here({"machine": message}, cpuinfo)
    assert not machine.is_here({"machine": {**message, "cpu": "There"}}, cpuinfo)
    assert not machine.is_here({"machine": {**message, "cores": 999}}, cpuinfo)
    assert not machine.is_here({"machine": {**message, "kernel": "1.0"}}, cpuinfo)


def test_a_report_made_under_a_containers_limit_is_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The suite counts as many cores as the limit allows."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(cores, "quota", lambda: 1.5)
    (tmp_path / "cpuinfo").write_text("model name\t: Here\n")
    report = {"cpu": "Here", "cores": 2, "kernel": platform.release()}
    assert machine.is_here({"machine": report}, tmp_path / "cpuinfo")
    assert not machine.is_here({"machine": {**report, "cores": 8}}, tmp_path / "cpuinfo")
