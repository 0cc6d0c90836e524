"""The machine of a result, its processors, and what else it did in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stacks.bench import result, rounds
from unit.helpers.benching import QUIET
from verify.core import machine as suite_machine


def test_second_threads_of_cores_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    for number, siblings in enumerate(["0-1", "0-1", "2-3", "2-3"]):
        folder = tmp_path / f"cpu{number}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    assert rounds.processors(2, tmp_path) == [0, 2]
    assert rounds.processors(4, tmp_path) == [0, 2, 1, 3]
    assert rounds.processors(3, tmp_path / "none") == [0, 1, 2]


def test_a_run_is_kept_to_its_processors_and_let_go() -> None:
    before = os.sched_getaffinity(0)
    with rounds.pinned_to([min(before)]) as stored:
        assert stored and os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before
    with rounds.pinned_to([100000]) as stored:
        assert not stored
    assert os.sched_getaffinity(0) == before


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give the files of the system by which a machine is described."""
    text = "cpu family\t: 6\nmodel\t\t: 79\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"
    text += "\nvendor_id\t: GenuineIntel\nstepping\t: 1\nmicrocode\t: 0xb\n"
    files = {"/proc/cpuinfo": text}
    monkeypatch.setattr(suite_machine, "text_of", lambda path: files.get(path, ""))
    monkeypatch.setattr(suite_machine, "CORES", set(range(4)))
    return files


def test_a_machine_is_described_with_the_peaks_of_its_reports(files: dict[str, str]) -> None:
    peaks = [[{"dtype": "float64", "threads": 1, "gflops": rate}] for rate in (50.0, 55.0)]
    found = result.describe_machine([{"machine": {"peak": peak}} for peak in peaks])
    assert found.name == "intel-xeon-e5-2680-v4-4-cores"
    assert (found.model, found.microcode, found.vendor) == ("6 79 1", "0xb", "GenuineIntel")
    assert [peak.gflops for peak in found.peak] == [55.0]
    others: list[dict[str, object]] = [
        {},
        {"cores": 3},
        {"cores": 7},
        {"cores": 2},
        {"cores": 8},
        {"model": "6 80 1"},
    ]
    speaks = [found.speaks_for(found.model_copy(update=more)) for more in others]
    assert speaks == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("limit", "more", "is_here"),
    [
        ("", {}, True),
        ("", {"cpu": "There"}, False),
        ("", {"cores": 999}, False),
        ("", {"kernel": "1.0"}, False),
        # Made under a container's limit.
        ("150000 100000", {"cores": 2}, True),
        ("150000 100000", {"cores": 4}, False),
    ],
)
def test_a_report_of_another_machine_does_not_count_here(
    files: dict[str, str], limit: str, more: dict[str, object], is_here: bool
) -> None:
    files["/sys/fs/cgroup/cpu.max"] = limit
    assert result.is_here({"machine": {**suite_machine.describe({}), **more}}) == is_here


def test_each_kind_of_noise_is_a_remark() -> None:
    assert result.noise_remarks([QUIET, QUIET]) == []
    loud = QUIET.model_copy(
        update={"others": 1.5, "steal": 0.2, "throttled": 2.0, "frequency": 2000.0}
    )
    assert result.noise_remarks([QUIET, loud]) == [
        "other programs were busy in 1 of 2 measurements, on up to 1.5 cores",
        "the host took processor time away in 1 of 2 measurements, up to 20%",
        "the container's CPU limit stopped it for 2.0 s",
        "the cores' clock went from 2000 to 3000 MHz",
    ]
