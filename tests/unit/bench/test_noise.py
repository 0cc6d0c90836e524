"""What else a machine did: from its counters, written by hand."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import noise
from unit.helpers.benching import QUIET

TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def system(tmp_path: Path) -> Path:
    files = {
        "proc/stat": f"cpu {10 * TICKS} 0 {5 * TICKS} 100 0 0 0 {TICKS} 0 0\ncpu0 1 2 3\n",
        "proc/loadavg": "0.50 0.10 0.10 1/100 1234\n",
        "proc/cpuinfo": "cpu MHz\t\t: 2400.0\ncpu MHz\t\t: 3100.5\n",
        "proc/self/cgroup": "0::/user/mine\n",
        "cgroup/user/mine/cpu.stat": "nr_throttled 3\nthrottled_usec 2500000\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_counters_are_read(system: Path) -> None:
    found = noise.read(system / "proc", system / "cgroup")
    assert (found.busy, found.steal, found.load) == (15, 1, 0.5)
    assert (found.throttled, found.frequency) == (2.5, 3100.5)


def test_version_1_of_cgroups(system: Path) -> None:
    (system / "proc/self/cgroup").write_text("4:cpu,cpuacct:/mine\n")
    folder = system / "cgroup/cpu,cpuacct/mine"
    folder.mkdir(parents=True)
    (folder / "cpu.stat").write_text("throttled_time 1500000000\n")
    assert noise.read(system / "proc", system / "cgroup").throttled == 1.5


def test_a_system_without_counters(tmp_path: Path) -> None:
    found = noise.read(tmp_path, tmp_path)
    assert (found.busy, found.steal, found.throttled, found.frequency) == (0, 0, 0, None)


def reading(**values: Any) -> noise.Reading:
    zero = noise.Reading(0, 0, 0, 0, 0, 0, None)
    return dataclasses.replace(zero, **values)


def test_others_are_what_we_did_not_do() -> None:
    after = reading(clock=10.0, busy=15.0, own=9.0, steal=1.0, throttled=0.5)
    found = noise.between(reading(), after, cores=2)
    assert (found.others, found.steal, found.throttled) == (0.6, 0.05, 0.5)


def test_a_tick_of_a_counter_in_a_short_turn_is_no_noise() -> None:
    after = reading(clock=0.018, busy=0.04, own=0.03, steal=0.01)
    found = noise.between(reading(), after, cores=2)
    assert (found.others, found.steal) == (0.0, 0.0)


def test_each_kind_of_noise_is_a_remark() -> None:
    assert noise.remarks([QUIET, QUIET]) == []
    loud = QUIET.model_copy(
        update={"others": 1.5, "steal": 0.2, "throttled": 2.0, "frequency": 2000.0}
    )
    assert noise.remarks([QUIET, loud]) == [
        "other programs were busy in 1 of 2 measurements, on up to 1.5 cores",
        "the host took processor time away in 1 of 2 measurements, up to 20%",
        "the container's CPU limit stopped it for 2.0 s",
        "the cores' clock went from 2000 to 3000 MHz",
    ]


def test_the_processor_time_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    fields = ["0"] * 40
    fields[11:13] = [str(2 * TICKS), str(TICKS)]
    (tmp_path / "7/stat").write_text(f"7 (a (b) c) {' '.join(fields)}")
    assert noise.processor_seconds(7, tmp_path) == 3
    assert noise.processor_seconds(8, tmp_path) == 0
