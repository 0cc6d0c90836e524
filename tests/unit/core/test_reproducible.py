from __future__ import annotations

import os
from pathlib import Path

import pytest

from stacks.core import cores, reproducible


def test_the_epoch_is_the_first_second_of_2024() -> None:
    assert reproducible.CREATED.isoformat() == "2024-01-01T00:00:00+00:00"
    assert reproducible.EPOCH == 1704067200


def test_the_environment_has_nothing_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFLAGS", "-O3")
    variables = reproducible.environment(tmp_path, PATH="/other", MORE="1")
    assert "CFLAGS" not in variables
    assert (variables["PATH"], variables["MORE"]) == ("/other", "1")
    assert variables["HOME"] == variables["TMPDIR"] == str(tmp_path)
    assert variables["SOURCE_DATE_EPOCH"] == "1704067200"


def write(root: Path, **files: str) -> tuple[Path, Path]:
    """Write files of a system; return its folders proc and cgroup."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "proc", root / "cgroup"


def test_the_limit_of_version_2_of_cgroups_may_be_a_parents(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/user/mine\n",
        "cgroup/user/mine/cpu.max": "max 100000\n",
        "cgroup/user/cpu.max": "150000 100000\n",
    }
    assert cores.quota(*write(tmp_path, **files)) == 1.5


def test_the_limit_of_version_1_of_cgroups(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:cpu,cpuacct:/mine\n",
        "cgroup/cpu,cpuacct/mine/cpu.cfs_quota_us": "50000\n",
        "cgroup/cpu,cpuacct/mine/cpu.cfs_period_us": "100000\n",
    }
    assert cores.quota(*write(tmp_path, **files)) == 0.5


def test_a_system_without_limits(tmp_path: Path) -> None:
    assert cores.quota(tmp_path, tmp_path) is None


@pytest.mark.parametrize(("limit", "usable"), [(None, 8), (1.5, 2), (0.5, 1), (16.0, 8)])
def test_a_limit_is_rounded_up(
    limit: float | None, usable: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(cores, "quota", lambda: limit)
    assert cores.usable() == usable
