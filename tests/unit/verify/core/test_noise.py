"""The noise around a timing, from files that Linux has: as the bench reads it outside an image."""

import importlib

import pytest

from stacks.bench import noise as outside
from stacks.bench.result import Noise

noise = importlib.import_module("verify.core.machine")


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    content = {
        "/proc/stat": "cpu  100 0 100 0 0 0 0 50\n",
        "/proc/loadavg": "0.5 0 0",
        "/proc/cpuinfo": "cpu MHz\t: 2000.5\ncpu MHz\t: 3000\n",
    }
    monkeypatch.setattr(noise, "text_of", lambda path: content.get(path, ""))
    return content


def test_the_noise_between_two_readings(files: dict[str, str]) -> None:
    before = noise.counters()
    files["/proc/stat"] = "cpu  400 0 100 0 0 0 0 60\n"
    files["/proc/self/cgroup"] = "0::/job\n"
    files["/sys/fs/cgroup/job/cpu.stat"] = "throttled_usec 1500000\n"
    after = dict(noise.counters(), clock=before["clock"] + 2.0, own=before["own"] + 1.0)
    assert noise.noise_between(before, after, 2) == {
        "load": 0.5,
        "others": 1.0,
        "steal": 0.025,
        "throttled": 1.5,
        "frequency": 3000.0,
    }


def test_a_tick_of_a_counter_in_a_short_turn_is_no_noise(files: dict[str, str]) -> None:
    before = noise.counters()
    files["/proc/stat"] = "cpu  102 0 101 0 0 0 0 51\n"
    after = dict(noise.counters(), clock=before["clock"] + 0.05, own=before["own"])
    found = noise.noise_between(before, after, 2)
    assert (found["others"], found["steal"]) == (0.0, 0.0)
    found = noise.noise_between(before, after, 1)
    assert (found["others"], found["steal"]) == (0.6, 0.0)


def test_it_is_what_the_bench_reads() -> None:
    here, there = noise.counters(), outside.read(living=50.0)
    assert there["own"] == pytest.approx(here["own"] + 50, abs=1)
    assert isinstance(outside.between(here, there, 1), Noise)


def test_version_1_of_cgroups(files: dict[str, str]) -> None:
    files["/proc/self/cgroup"] = "4:cpu,cpuacct:/mine\n"
    files["/sys/fs/cgroup/cpu,cpuacct/mine/cpu.stat"] = "throttled_time 1500000000\n"
    assert noise.counters()["throttled"] == 1.5


def test_a_machine_that_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "text_of", lambda path: "")
    reading = noise.counters()
    assert (reading["busy"], reading["load"], reading["frequency"]) == (0.0, 0.0, None)


def test_reasons_are_what_was_seen(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = noise.counters()
    after = dict(before, clock=before["clock"] + 2.0)
    assert noise.noise_reasons(before, after, 2) == []
    files["/proc/self/cgroup"] = "0::/job\n"
    files["/sys/fs/cgroup/job/cpu.max"] = "50000 100000\n"
    waiting = dict(after, waited=before["waited"] + 1.0)
    assert noise.noise_reasons(before, waiting, 2) == [], "for its own threads"
    seen = dict(waiting, throttled=1.5, steal=before["steal"] + 1.0, busy=before["busy"] + 1.0)
    assert noise.noise_reasons(before, seen, 2) == [
        "the container's limit, 0.5 processors (/sys/fs/cgroup/job/cpu.max), stopped it for 1.5 of "
        "2.0 s",
        "the host gave 25 % of the time to other machines (steal)",
        "its threads waited 1.0 s for a processor in 2.0 s",
    ]
