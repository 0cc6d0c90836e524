"""Noise: what else the machine does during a timing."""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stacks.bench.result import Noise
from stacks.core.cores import CGROUP, PROC, cgroup_folders, text_of

TICKS = os.sysconf("SC_CLK_TCK")
# Of a core; less is none.
LEAST_TICKS = 2

# Larger noise is a remark: cores, share of the cores, share of the highest clock.
OTHERS = 0.10
STEAL = 0.01
FREQUENCY = 0.90


@dataclass(frozen=True)
class Reading:
    """The machine's counters at one time; in seconds, the frequency in MHz."""

    clock: float
    busy: float
    steal: float
    own: float
    throttled: float
    load: float
    frequency: float | None


def read(proc: Path = PROC, cgroup: Path = CGROUP, *, living: float = 0.0) -> Reading:
    """Read the counters; missing ones are 0.

    living: processor seconds of our processes that still run; the system counts them as ours only
    after their end.
    """
    words = text_of(proc / "stat").partition("\n")[0].split()[1:]
    # user nice system idle iowait irq softirq steal; user includes a guest's time.
    ticks = [int(word) / TICKS for word in words[:8]] or [0.0] * 8
    own = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    clocks = [
        float(mhz) for mhz in re.findall(r"(?m)^cpu MHz\s*: ([\d.]+)", text_of(proc / "cpuinfo"))
    ]
    return Reading(
        clock=time.monotonic(),
        busy=sum(ticks[:3]) + ticks[5] + ticks[6],
        steal=ticks[7],
        own=living + sum(usage.ru_utime + usage.ru_stime for usage in own),
        throttled=_throttled(proc, cgroup),
        load=float(text_of(proc / "loadavg").split()[0]) if text_of(proc / "loadavg") else 0.0,
        frequency=max(clocks, default=None),
    )


def processor_seconds(process: int, proc: Path = PROC) -> float:
    """Return the processor time of a process so far, without its children's; 0 if it is gone."""
    # proc(5): utime and stime. The second field, a name in brackets, may have spaces in it.
    fields = text_of(proc / str(process) / "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS if fields else 0.0


def between(before: Reading, after: Reading, cores: int) -> Noise:
    """Return the noise between two readings, on so many usable cores."""
    seconds = max(after.clock - before.clock, 1e-9)
    others = (after.busy - before.busy) - (after.own - before.own)
    steal = after.steal - before.steal
    # The system counts ticks of each core, so a short turn may end within one.
    least = LEAST_TICKS * cores / TICKS
    return Noise(
        load=before.load,
        others=round(others / seconds, 3) if others > least else 0.0,
        steal=round(steal / seconds / cores, 4) if steal > least else 0.0,
        throttled=round(max(after.throttled - before.throttled, 0.0), 3),
        frequency=after.frequency,
    )


def remarks(noises: Sequence[Noise]) -> list[str]:
    """Return a sentence for each kind of noise that the timings may have suffered from."""
    sentences = []
    noisy = [noise.others for noise in noises if noise.others > OTHERS]
    if noisy:
        sentences.append(
            f"other programs were busy in {len(noisy)} of {len(noises)} measurements, on up to "
            f"{max(noisy):.1f} cores"
        )
    stolen = [noise.steal for noise in noises if noise.steal > STEAL]
    if stolen:
        sentences.append(
            f"the host took processor time away in {len(stolen)} of {len(noises)} measurements, up "
            f"to {max(stolen):.0%}"
        )
    throttled = sum(noise.throttled for noise in noises)
    if throttled:
        sentences.append(f"the container's CPU limit stopped it for {throttled:.1f} s")
    clocks = [noise.frequency for noise in noises if noise.frequency]
    if clocks and min(clocks) < FREQUENCY * max(clocks):
        sentences.append(f"the cores' clock went from {min(clocks):.0f} to {max(clocks):.0f} MHz")
    return sentences


def _throttled(proc: Path, cgroup: Path) -> float:
    most = 0.0
    for folder in cgroup_folders(proc, cgroup):
        for name, value in re.findall(
            r"(?m)^(throttled_usec|throttled_time) (\d+)", text_of(folder / "cpu.stat")
        ):
            # Version 2 counts microseconds, version 1 nanoseconds.
            most = max(most, int(value) / (1e6 if name == "throttled_usec" else 1e9))
    return most
