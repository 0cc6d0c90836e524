"""How many cores this process may use: its affinity, and the limit of a container."""

from __future__ import annotations

import math
import os
from pathlib import Path

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")


def affine() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0))


def usable() -> int:
    """Return the number of cores to use, as a verification reports it: a limit is rounded up."""
    limit = quota()
    return min(affine(), max(1, math.ceil(limit))) if limit else affine()


def quota(proc: Path = PROC, cgroup: Path = CGROUP) -> float | None:
    """Return how many cores the container's limit allows, None without a limit."""
    limits = []
    for folder in cgroup_folders(proc, cgroup):
        words = text_of(folder / "cpu.max").split()
        if len(words) == 2 and words[0] != "max":
            limits.append(int(words[0]) / int(words[1]))
        old, period = text_of(folder / "cpu.cfs_quota_us"), text_of(folder / "cpu.cfs_period_us")
        if old and period and int(old) > 0:
            limits.append(int(old) / int(period))
    return min(limits, default=None)


def cgroup_folders(proc: Path = PROC, cgroup: Path = CGROUP) -> list[Path]:
    """Return the folders of this process's cgroup and of all its parents."""
    folders = [cgroup, cgroup / "cpu"]
    for line in text_of(proc / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        base = cgroup / controllers
        while path not in ("/", ""):
            folders.append(base / path.lstrip("/"))
            path = path.rpartition("/")[0]
    return folders


def text_of(path: Path) -> str:
    """Return the text of a file of the system, "" if it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
