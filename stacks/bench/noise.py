"""What else the machine does while something is timed."""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stacks.bench.result import Noise

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
TICKS = os.sysconf("SC_CLK_TCK")

# From here on a figure deserves a remark.
OTHERS = 0.10
STEAL = 0.01
FREQUENCY = 0.90


@dataclass(frozen=True)
class Reading:
    """The machine's counters at one time, in seconds but for the frequency in MHz."""

    clock: float
    busy: float
    steal: float
    own: float
    throttled: float
    load: float
    frequency: float | None


def read(proc: Path = PROC, cgroup: Path = CGROUP, *, living: float = 0.0) -> Reading:
    """Read the counters; what a system does not tell counts as nothing.

    `living` are the seconds that our processes have taken which have not ended yet: the system
    counts them as ours only then.
    """
    words = _text(proc / "stat").partition("\n")[0].split()[1:]
    # user nice system idle iowait irq softirq steal; a guest's time is in user already.
    ticks = [int(word) / TICKS for word in words[:8]] or [0.0] * 8
    own = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    clocks = [
        float(mhz) for mhz in re.findall(r"(?m)^cpu MHz\s*: ([\d.]+)", _text(proc / "cpuinfo"))
    ]
    return Reading(
        clock=time.monotonic(),
        busy=sum(ticks[:3]) + ticks[5] + ticks[6],
        steal=ticks[7],
        own=living + sum(usage.ru_utime + usage.ru_stime for usage in own),
        throttled=_throttled(proc, cgroup),
        load=float(_text(proc / "loadavg").split()[0]) if _text(proc / "loadavg") else 0.0,
        frequency=max(clocks, default=None),
    )


def between(before: Reading, after: Reading, cores: int) -> Noise:
    """Return what went on between two readings, on so many usable cores."""
    seconds = max(after.clock - before.clock, 1e-9)
    others = (after.busy - before.busy) - (after.own - before.own)
    return Noise(
        load=before.load,
        others=round(max(others / seconds, 0.0), 3),
        steal=round(max((after.steal - before.steal) / seconds / cores, 0.0), 4),
        throttled=round(max(after.throttled - before.throttled, 0.0), 3),
        frequency=after.frequency,
    )


def remarks(found: Sequence[Noise]) -> list[str]:
    """Return a sentence for each kind of noise that the timings may have suffered from."""
    said = []
    noisy = [noise.others for noise in found if noise.others > OTHERS]
    if noisy:
        said.append(
            f"other programs were busy in {len(noisy)} of {len(found)} measurements, on up to "
            f"{max(noisy):.1f} cores"
        )
    stolen = [noise.steal for noise in found if noise.steal > STEAL]
    if stolen:
        said.append(
            f"the host took processor time away in {len(stolen)} of {len(found)} measurements, up "
            f"to {max(stolen):.0%}"
        )
    throttled = sum(noise.throttled for noise in found)
    if throttled:
        said.append(f"the container's CPU limit stopped it for {throttled:.1f} s")
    clocks = [noise.frequency for noise in found if noise.frequency]
    if clocks and min(clocks) < FREQUENCY * max(clocks):
        said.append(f"the cores' clock went from {min(clocks):.0f} to {max(clocks):.0f} MHz")
    return said


def quota(proc: Path = PROC, cgroup: Path = CGROUP) -> float | None:
    """Return how many cores the container's limit allows, None where there is no limit."""
    found = []
    for folder in _cgroup_folders(proc, cgroup):
        words = _text(folder / "cpu.max").split()
        if len(words) == 2 and words[0] != "max":
            found.append(int(words[0]) / int(words[1]))
        old, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
        if old and period and int(old) > 0:
            found.append(int(old) / int(period))
    return min(found, default=None)


def _throttled(proc: Path, cgroup: Path) -> float:
    most = 0.0
    for folder in _cgroup_folders(proc, cgroup):
        for name, value in re.findall(
            r"(?m)^(throttled_usec|throttled_time) (\d+)", _text(folder / "cpu.stat")
        ):
            # Version 2 counts microseconds, version 1 nanoseconds.
            most = max(most, int(value) / (1e6 if name == "throttled_usec" else 1e9))
    return most


def _cgroup_folders(proc: Path, cgroup: Path) -> list[Path]:
    """Return the folders of this process's own cgroup and of all above it."""
    folders = [cgroup, cgroup / "cpu"]
    for line in _text(proc / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        base = cgroup / controllers
        while path not in ("/", ""):
            folders.append(base / path.lstrip("/"))
            path = path.rpartition("/")[0]
    return folders


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
