"""The description of the machine and its noise, from files that Linux has."""

import os

import pytest

from stacks.bench.result import Noise, watch_noise
from verify.core import machine

CPUINFO = "".join(
    f"processor\t: {n}\nmodel name\t: A processor\nphysical id\t: 0\ncore id\t: {n // 2}\n\n"
    for n in range(64)
)
FILES = {"/proc/cpuinfo": CPUINFO, "/proc/meminfo": "MemTotal:  8388608 kB\n"}


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give the files of a machine with 64 hyperthreads, 4 of them usable; more may be added."""
    content = dict(FILES)
    monkeypatch.setattr(machine, "read_text", lambda path: content.get(path, ""))
    monkeypatch.setattr(machine, "CORES", {8, 9, 10, 11})
    return content


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Python has no affinity here")
def test_a_thread_that_a_library_has_bound_counts_all_cores_of_the_start() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert machine.affine_cores() == len(before)
        machine.unbind()
        assert os.sched_getaffinity(0) == before
    finally:
        os.sched_setaffinity(0, before)


def test_fields_and_cores_of_the_processor(files: dict[str, str]) -> None:
    assert machine.cpu_field("model name") == "A processor"
    assert machine.cpu_field("flags") is None
    assert machine.physical_cores() == 2
    files["/proc/cpuinfo"] = ""
    assert machine.physical_cores() is None


@pytest.mark.parametrize(
    ("limits", "cores"),
    [
        ({"user/cpu.max": "max 100000"}, 4),
        ({"user/cpu.max": "150000 100000"}, 2),
        ({"user/job/cpu.max": "50000 100000"}, 1),
        ({"user/cpu.max": "900000 100000"}, 4),
        # Version 1.
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 4),
    ],
)
def test_a_quota_bounds_the_cores(
    files: dict[str, str], limits: dict[str, str], cores: int
) -> None:
    files["/proc/self/cgroup"] = "0::/user/job\n"
    files.update({f"/sys/fs/cgroup/{name}": f"{text}\n" for name, text in limits.items()})
    assert machine.usable_cores() == cores


def test_a_limit_of_a_cgroup_bounds_the_memory(files: dict[str, str]) -> None:
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert machine.memory_and_file() == (8 << 30, "/proc/meminfo")
    files[limit := "/sys/fs/cgroup/memory/memory.limit_in_bytes"] = f"{1 << 30}\n"
    assert machine.memory_and_file() == (1 << 30, limit)


# Of a machine with more processors than this process may use: user and steal of each of its two.
STAT = "".join(
    f"cpu{number}  {user} 0 50 0 0 0 0 {steal}\n"
    for number, user, steal in (("", 999, 999), (0, 999, 999), (1, "%d", "%d"), (2, "%d", "%d"))
)


@pytest.fixture
def counters(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    files |= {"/proc/stat": STAT % (50, 25, 50, 25), "/proc/loadavg": "0.5 0 0"}
    files["/proc/cpuinfo"] = "cpu MHz\t: 2000.5\ncpu MHz\t: 3000\n"
    monkeypatch.setattr(machine, "CORES", {1, 2})
    return files


def test_the_noise_between_two_readings(counters: dict[str, str]) -> None:
    before = machine.counters()
    counters["/proc/stat"] = STAT % (300, 25, 100, 35)
    counters["/proc/self/cgroup"] = "0::/job\n"
    counters["/sys/fs/cgroup/job/cpu.stat"] = "throttled_usec 1500000\n"
    after = dict(machine.counters(), clock=before["clock"] + 2.0, own=before["own"] + 1.0)
    assert machine.noise_between(before, after) == {
        "load": 0.5,
        "others": 1.0,
        "steal": 0.025,
        "throttled": 1.5,
        "frequency": 3000.0,
    }
    counters["/proc/self/cgroup"] = "4:cpu,cpuacct:/mine\n"
    counters["/sys/fs/cgroup/cpu,cpuacct/mine/cpu.stat"] = "throttled_time 1500000000\n"
    assert machine.counters()["throttled"] == 1.5


def test_a_tick_of_a_counter_in_a_short_turn_is_no_noise(
    counters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = machine.counters()
    counters["/proc/stat"] = STAT % (53, 26, 50, 25)
    after = dict(machine.counters(), clock=before["clock"] + 0.05, own=before["own"])
    found = machine.noise_between(before, after)
    assert (found["others"], found["steal"]) == (0.0, 0.0)
    # Where a container has other numbers, or fewer, the sum counts.
    monkeypatch.setattr(machine, "CORES", {7})
    before = machine.counters()
    counters["/proc/stat"] = counters["/proc/stat"].replace("999", "1003")
    after = dict(machine.counters(), clock=before["clock"] + 0.05, own=before["own"])
    found = machine.noise_between(before, after)
    assert (found["others"], found["steal"]) == (0.8, 0.8)


def test_it_is_what_the_bench_reads() -> None:
    living = iter([0.0, 50.0])
    noise = watch_noise(lambda: next(living))()
    assert isinstance(noise, Noise) and noise.others == 0, "its time is the bench's"


@pytest.mark.parametrize("cores", [2, 4, 8, 16, 64])
def test_reasons_are_what_was_seen(
    counters: dict[str, str], monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    monkeypatch.setattr(machine, "CORES", set(range(cores)))
    before = machine.counters()
    after = dict(before, clock=before["clock"] + 2.0)
    assert machine.noise_reasons(before, after) == []
    counters["/proc/self/cgroup"] = "0::/job\n"
    counters["/sys/fs/cgroup/job/cpu.max"] = "50000 100000\n"
    waiting = dict(after, waited=before["waited"] + 1.0)
    assert machine.noise_reasons(before, waiting) == [], "for its own threads"
    # One busy processor of many: the product waits for its slowest thread.
    seen = dict(waiting, throttled=1.5, busy=before["busy"] + 1.0)
    seen["steal"] = before["steal"] + 0.5 * cores
    assert machine.noise_reasons(before, seen) == [
        "the container's limit, 0.5 processors (/sys/fs/cgroup/job/cpu.max), stopped it for 1.5 of "
        "2.0 s",
        "the host gave 25 % of the time to other machines (steal)",
        "its threads waited 1.0 s for a processor in 2.0 s",
    ]
