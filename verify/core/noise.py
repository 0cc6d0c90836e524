"""What else a machine does while something is timed: the noise of a result's run."""

from __future__ import absolute_import, division, print_function

import os
import re
import resource

from verify.core import machine
from verify.core.clock import monotonic

TICKS = os.sysconf("SC_CLK_TCK")
# Of a core; less is none.
LEAST_TICKS = 2
MICROSECONDS, NANOSECONDS = 1e6, 1e9


def read():
    """Return the machine's counters now, in seconds; the frequency in MHz, None if unknown.

    Source: proc(5). The processes that this one has waited for count as its own.
    """
    stat = machine.text_of("/proc/stat").partition("\n")[0].split()[1:]
    # user nice system idle iowait irq softirq steal
    ticks = [int(word) / TICKS for word in stat[:8]] or [0.0] * 8
    own = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    clocks = re.findall(r"(?m)^cpu MHz\s*: ([\d.]+)", machine.text_of("/proc/cpuinfo"))
    return {
        "clock": monotonic(),
        "busy": sum(ticks[:3]) + ticks[5] + ticks[6],
        "steal": ticks[7],
        "own": sum(usage.ru_utime + usage.ru_stime for usage in own),
        "throttled": _throttled(),
        "load": float((machine.text_of("/proc/loadavg").split() or ["0"])[0]),
        "frequency": max(float(mhz) for mhz in clocks) if clocks else None,
    }


def between(before, after, cores):
    """Return the noise between two readings as a result has it, on so many usable cores."""
    seconds = max(after["clock"] - before["clock"], 1e-9)
    others = (after["busy"] - before["busy"]) - (after["own"] - before["own"])
    steal = after["steal"] - before["steal"]
    # The system counts ticks of each core, so a short turn may end within one.
    least = LEAST_TICKS * cores / TICKS
    return {
        "load": before["load"],
        "others": round(others / seconds, 3) if others > least else 0.0,
        "steal": round(steal / seconds / cores, 4) if steal > least else 0.0,
        "throttled": round(max(after["throttled"] - before["throttled"], 0.0), 3),
        "frequency": after["frequency"],
    }


def _throttled():
    """Return the seconds in which a container's limit has stopped it."""
    most = 0.0
    for folder in machine.cgroup_folders():
        content = machine.text_of(os.path.join(folder, "cpu.stat"))
        for name, value in re.findall(r"(?m)^(throttled_usec|throttled_time) (\d+)", content):
            most = max(most, int(value) / (MICROSECONDS if "usec" in name else NANOSECONDS))
    return most
