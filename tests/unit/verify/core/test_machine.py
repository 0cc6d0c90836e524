"""The description of the machine, from files that Linux has."""

import importlib
import json
import os

import pytest

from stacks.core.disk import REPOSITORY

machine = importlib.import_module("verify.core.machine")

SCHEMA = json.loads((REPOSITORY / "verify/report.schema.json").read_text())
CPUINFO = "".join(
    f"processor\t: {n}\nmodel name\t: A processor\nphysical id\t: 0\ncore id\t: {n // 2}\n\n"
    for n in range(4)
)
FILES = {"/proc/cpuinfo": CPUINFO, "/proc/meminfo": "MemTotal:  8388608 kB\n"}


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give the files of a machine with 4 hyperthreads, all usable; more may be added."""
    content = dict(FILES)
    monkeypatch.setattr(machine, "text_of", lambda path: content.get(path, ""))
    monkeypatch.setattr(machine, "affine_cores", lambda: 4)
    return content


def test_the_description_has_the_keys_of_the_schema_and_no_host_name() -> None:
    description = machine.describe({"float64": {2: 4.0, 1: 2.0}})
    assert description["cores"] >= 1 and description["memory"] > 0
    assert set(description) == set(SCHEMA["properties"]["machine"]["properties"])
    assert [peak["threads"] for peak in description["peak"]] == [1, 2]


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
    ("path", "text", "cores"),
    [
        ("cpu.max", "max 100000", 4),
        ("cpu.max", "150000 100000", 2),
        ("cpu.max", "50000 100000", 1),
        ("cpu.max", "900000 100000", 4),
    ],
)
def test_a_quota_of_cgroup_2_bounds_the_cores(
    files: dict[str, str], path: str, text: str, cores: int
) -> None:
    files["/proc/self/cgroup"] = "0::/user/job\n"
    files[f"/sys/fs/cgroup/user/{path}"] = text
    assert machine.usable_cores() == cores


def test_a_quota_of_cgroup_1_bounds_the_cores(files: dict[str, str]) -> None:
    files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "200000"
    files["/sys/fs/cgroup/cpu/cpu.cfs_period_us"] = "100000"
    assert machine.usable_cores() == 2


def test_a_limit_of_a_cgroup_bounds_the_memory(files: dict[str, str]) -> None:
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert machine.memory_bytes() == 8 << 30
    files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = f"{1 << 30}\n"
    assert machine.memory_bytes() == 1 << 30
