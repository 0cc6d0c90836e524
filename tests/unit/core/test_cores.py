"""The cores to use: from a system's files, written by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stacks.core import cores


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
