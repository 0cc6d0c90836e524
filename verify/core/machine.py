"""The machine of a report: its hardware and system, its noise; nothing that names its owner."""

from __future__ import absolute_import, division, print_function

import ctypes
import io
import os
import platform
import re
import resource

# Relative: theano_stacks_program.py imports this module by another name of the package.
from .portable import monotonic

MEMORY = "/proc/meminfo"


def describe(peaks):
    """Return the machine for the report; `peaks` is {dtype: {threads: GFLOP/s}}."""
    return {
        "cpu": cpu_field("model name") or platform.processor() or platform.machine(),
        "vendor": cpu_field("vendor_id") or "unknown",
        "cores": usable_cores(),
        "memory": memory_and_file()[0],
        "kernel": platform.release(),
        "glibc": glibc(),
        "peak": [
            {"dtype": dtype, "threads": threads, "gflops": peaks[dtype][threads]}
            for dtype in sorted(peaks)
            for threads in sorted(peaks[dtype])
        ],
    }


def described(peaks):
    """Return the machine of a result: with its model and its folder's name, too."""
    content = describe(peaks)
    fields = [cpu_field(name) or "unknown" for name in ("cpu family", "model", "stepping")]
    content["model"] = " ".join(fields)
    content["microcode"] = cpu_field("microcode") or "unknown"
    content["name"] = folder_name("%s %d cores" % (content["cpu"], content["cores"]))
    return content


def folder_name(text):
    """Return a text as the folder of results: `AMD EPYC 7B13, 2 cores`: amd-epyc-7b13-2-cores."""
    plain = re.sub(r"\((R|TM|tm)\)|@.*?GHz|\b(CPU|Processor)\b", " ", text)
    return re.sub(r"[^a-z0-9.]+", "-", plain.lower()).strip("-.") or "machine"


def cpu_field(name):
    """Return the first value of a field of /proc/cpuinfo, or None."""
    field = re.search(
        r"^%s\s*:\s*(.+)$" % re.escape(name), read_text("/proc/cpuinfo"), re.MULTILINE
    )
    return field.group(1).strip() if field else None


def physical_cores():
    """Return how many of this process's cores are no hyperthreads, or None if it is not known."""
    pattern = r"^processor\s*:\s*(\d+).*?^physical id\s*:\s*(\d+).*?^core id\s*:\s*(\d+)"
    found = re.findall(pattern, read_text("/proc/cpuinfo"), re.MULTILINE | re.DOTALL)
    cores = {(package, core) for number, package, core in found if int(number) in CORES}
    return len(cores) or None


def affine_cores():
    """Return how many cores this process's affinity mask has had at its start.

    With OMP_PROC_BIND a library binds the main thread to one of them.
    """
    return len(CORES)


def unbind():
    """Let the calling thread run on all cores of the process. Python 2 has no function for it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, CORES)


def _cores():
    # Python 2 has no function for it.
    mask = re.search(r"^Cpus_allowed:\s*([0-9a-f,]+)", read_text("/proc/self/status"), re.MULTILINE)
    number = int(mask.group(1).replace(",", ""), 16) if mask else 1
    return {core for core in range(number.bit_length()) if number >> core & 1}


def usable_cores():
    """Return how many cores this process can use: its affinity, bounded by cgroup quotas."""
    limit = quota_and_file()[0]
    cores = affine_cores()
    # Rounded up: with a quota of 1.5 cores a second thread still helps.
    return max(1, min(cores, int(-(-limit // 1)))) if limit else cores


def quota_and_file():
    """Return (cores that a container's limit allows, the file that has it); (None, None) without.

    Of several limits the lowest counts.
    """
    cores = []
    for path, text in cgroup_files("cpu.max", "cpu.cfs_quota_us"):
        quota, _, period = text.partition(" ")
        # Version 1 has a file for each; Linux's own period is a tenth of a second.
        period = period or read_text(path.replace("quota", "period")).strip() or "100000"
        if quota.isdigit() and int(quota):
            cores.append((float(quota) / float(period), path))
    return min(cores) if cores else (None, None)


def cgroup_files(*names):
    """Return (path, text) of the files with these names of this process's control groups."""
    paths = [os.path.join(folder, name) for folder in cgroup_folders() for name in names]
    texts = [(path, read_text(path).strip()) for path in paths]
    return [(path, text) for path, text in texts if text]


def cgroup_folders():
    """Return the folders of this process's control groups and of their parents."""
    folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"]
    for line in read_text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        base = "/sys/fs/cgroup"
        if controllers:
            base = os.path.join(base, controllers)
        while path not in ("/", ""):
            folders.append(base + path)
            path = os.path.dirname(path)
    return folders


def memory_and_file():
    """Return (bytes of memory that this process may use, the file that says so).

    They are the machine's, or the lowest limit of its control groups; (0, None) if none is shown.
    """
    total = re.search(r"^MemTotal:\s*(\d+) kB", read_text(MEMORY), re.MULTILINE)
    sizes = [(int(total.group(1)) * 1024, MEMORY)] if total else []
    limits = cgroup_files("memory.max", "memory.limit_in_bytes")
    sizes += [(int(text), path) for path, text in limits if text.isdigit()]
    return min(sizes) if sizes else (0, None)


def glibc():
    """Return the version of the C library, or `unknown`."""
    try:
        version = ctypes.CDLL(None).gnu_get_libc_version
    except AttributeError:
        return "unknown"
    version.restype = ctypes.c_char_p
    return version().decode("ascii")


def read_text(path):
    """Return the text of a file of the system, empty if it cannot be read."""
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, IOError):
        return ""


# When this module is imported no library is loaded.
CORES = _cores()


TICKS = os.sysconf("SC_CLK_TCK")
# Of one core; less is none. Cores gain and lose ticks independently, so of many it is the root.
LEAST_TICKS = 3
# From here on is named what takes time: the share that the host took, or a limit; the processors
# that other programs kept busy and threads waited for. One counts on every machine: a product is as
# slow as its slowest thread.
SEEN, SEEN_PROCESSORS = 0.05, 0.1
MICROSECONDS, NANOSECONDS = 1e6, 1e9


def counters(living=0.0):
    """Return the counters of this process's cores, in seconds; the frequency in MHz, or None.

    Source: proc(5). The processes that this one has waited for count as its own. living: processor
    seconds of those that still run; the system counts them only after their end.
    """
    lines = [
        line.split() for line in read_text("/proc/stat").splitlines() if line.startswith("cpu")
    ]
    # A container may have only some of them, or others by the same number.
    ours = [line for line in lines if line[0][3:].isdigit() and int(line[0][3:]) in CORES]
    columns = zip(*(line[1:9] for line in (ours if len(ours) == len(CORES) else lines[:1])))
    # user nice system idle iowait irq softirq steal
    ticks = [sum(map(int, column)) / TICKS for column in columns] or [0.0] * 8
    own = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    clocks = re.findall(r"(?m)^cpu MHz\s*: ([\d.]+)", read_text("/proc/cpuinfo"))
    return {
        "clock": monotonic(),
        "busy": sum(ticks[:3]) + ticks[5] + ticks[6],
        "steal": ticks[7],
        "own": living + sum(usage.ru_utime + usage.ru_stime for usage in own),
        "throttled": _throttled(),
        "waited": _waited(),
        "load": float((read_text("/proc/loadavg").split() or ["0"])[0]),
        "frequency": max(float(mhz) for mhz in clocks) if clocks else None,
    }


def noise_between(before, after):
    """Return the noise between two readings as a result has it."""
    cores = affine_cores()
    seconds = max(after["clock"] - before["clock"], 1e-9)
    others = (after["busy"] - before["busy"]) - (after["own"] - before["own"])
    steal = after["steal"] - before["steal"]
    # The system counts ticks of each core, so a short turn may end within one.
    least = LEAST_TICKS * cores**0.5 / TICKS
    return {
        "load": before["load"],
        "others": round(others / seconds, 3) if others > least else 0.0,
        "steal": round(steal / seconds / cores, 4) if steal > least else 0.0,
        "throttled": round(max(after["throttled"] - before["throttled"], 0.0), 3),
        "frequency": after["frequency"],
    }


def noise_reasons(before, after):
    """Return what was seen between two readings that takes time from a program, as texts."""
    seconds = max(after["clock"] - before["clock"], 1e-9)
    seen = noise_between(before, after)
    waited = (after["waited"] - before["waited"]) / seconds
    found = []
    if seen["throttled"] > SEEN * seconds:
        quota, path = quota_and_file()
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
    if min(waited, seen["others"]) > SEEN_PROCESSORS:
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
        fields = read_text(os.path.join(folder, thread, "schedstat")).split()
        total += int(fields[1]) / NANOSECONDS if len(fields) > 1 else 0.0
    return total


def _throttled():
    """Return the seconds in which a container's limit has stopped it."""
    most = 0.0
    for _, content in cgroup_files("cpu.stat"):
        for name, value in re.findall(r"(?m)^(throttled_usec|throttled_time) (\d+)", content):
            most = max(most, int(value) / (MICROSECONDS if "usec" in name else NANOSECONDS))
    return most
