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
# The share of the time that something took, from which on it is named.
SEEN = 0.05
MICROSECONDS, NANOSECONDS = 1e6, 1e9


def read(living=0.0):
    """Return the machine's counters now, in seconds; the frequency in MHz, None if unknown.

    Source: proc(5). The processes that this one has waited for count as its own. living: processor
    seconds of those that still run; the system counts them only after their end.
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
        "own": living + sum(usage.ru_utime + usage.ru_stime for usage in own),
        "throttled": _throttled(),
        "waited": _waited(),
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


def reasons(before, after, cores):
    """Return what was seen between two readings that takes time from a program, as texts.

    cores: that this process may use. Less than SEEN of its time is not worth a word.
    """
    seconds = max(after["clock"] - before["clock"], 1e-9)
    seen = between(before, after, cores)
    waited = (after["waited"] - before["waited"]) / seconds
    found = []
    if seen["throttled"] > SEEN * seconds:
        quota, path = machine.quota_and_file()
        limit = "%g processors (%s)" % (quota, path) if quota else "its processors"
        found.append(
            "the container's limit, %s, stopped it for %.1f of %.1f s"
            % (limit, seen["throttled"], seconds)
        )
    if seen["steal"] > SEEN:
        found.append(
            "the host gave %.0f %% of the time to other machines (steal)" % (100 * seen["steal"])
        )
    # Two threads that each wait for half of the time have waited for as long as it took. Threads
    # of one process wait for each other, too: that is no noise.
    if waited > SEEN * cores and seen["others"] > SEEN * cores:
        found.append(
            "its threads waited %.1f s for a processor in %.1f s" % (waited * seconds, seconds)
        )
    return found


def _waited():
    """Return the seconds that this process's threads have waited in the scheduler's queues.

    Source: the Linux kernel's sched-stats.txt, the second field of schedstat.
    """
    total = 0.0
    folder = "/proc/self/task"
    for thread in os.listdir(folder) if os.path.isdir(folder) else ():
        fields = machine.text_of(os.path.join(folder, thread, "schedstat")).split()
        total += int(fields[1]) / NANOSECONDS if len(fields) > 1 else 0.0
    return total


def _throttled():
    """Return the seconds in which a container's limit has stopped it."""
    most = 0.0
    for folder in machine.cgroup_folders():
        content = machine.text_of(os.path.join(folder, "cpu.stat"))
        for name, value in re.findall(r"(?m)^(throttled_usec|throttled_time) (\d+)", content):
            most = max(most, int(value) / (MICROSECONDS if "usec" in name else NANOSECONDS))
    return most
