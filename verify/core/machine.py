"""The machine that the figures belong to. Nothing that would name its owner."""

from __future__ import absolute_import, division, print_function

import ctypes
import io
import os
import platform
import re


def describe(peaks):
    """Return the machine as the report has it; `peaks` is {dtype: {threads: GFLOP/s}}."""
    return {
        "cpu": cpu_field("model name") or platform.processor() or platform.machine(),
        "vendor": cpu_field("vendor_id") or "unknown",
        "cores": usable_cores(),
        "memory": memory_bytes(),
        "kernel": platform.release(),
        "glibc": glibc(),
        "peak": [
            {"dtype": dtype, "threads": threads, "gflops": peaks[dtype][threads]}
            for dtype in sorted(peaks)
            for threads in sorted(peaks[dtype])
        ],
    }


def cpu_field(name):
    """Return the first value of a field of /proc/cpuinfo, or None."""
    found = re.search(r"^%s\s*:\s*(.+)$" % re.escape(name), _text("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1).strip() if found else None


def physical_cores():
    """Return how many cores the machine has when hyperthreads are not counted, or None."""
    text = _text("/proc/cpuinfo")
    cores = set(re.findall(r"^physical id\s*:\s*(\d+).*?^core id\s*:\s*(\d+)", text, re.M | re.S))
    return len(cores) or None


def affine_cores():
    """Return how many cores the scheduler lets this process use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    found = re.search(r"^Cpus_allowed:\s*([0-9a-f,]+)", _text("/proc/self/status"), re.MULTILINE)
    return bin(int(found.group(1).replace(",", ""), 16)).count("1") if found else 1


def usable_cores():
    """Return how many cores this process can keep busy: affinity, bounded by cgroup quotas."""
    quota = _cgroup_cores()
    cores = affine_cores()
    return max(1, min(cores, quota)) if quota else cores


def _cgroup_cores():
    cores = []
    for folder in _cgroup_folders():
        words = _text(os.path.join(folder, "cpu.max")).split()
        if len(words) == 2 and words[0] != "max":
            cores.append(float(words[0]) / float(words[1]))
        quota = _text(os.path.join(folder, "cpu.cfs_quota_us")).strip()
        period = _text(os.path.join(folder, "cpu.cfs_period_us")).strip()
        if quota and period and int(quota) > 0:
            cores.append(int(quota) / float(period))
    # A quota of 1.5 cores keeps two threads busy half of the time.
    return int(-(-min(cores) // 1)) if cores else None


def _cgroup_folders():
    folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"]
    for line in _text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        base = "/sys/fs/cgroup"
        if controllers:
            base = os.path.join(base, controllers)
        while path not in ("/", ""):
            folders.append(base + path)
            path = os.path.dirname(path)
    return folders


def memory_bytes():
    """Return the memory this process may use: the machine's, bounded by cgroup limits."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", _text("/proc/meminfo"), re.MULTILINE)
    sizes = [int(found.group(1)) * 1024] if found else []
    for folder in _cgroup_folders():
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = _text(os.path.join(folder, name)).strip()
            if text.isdigit():
                sizes.append(int(text))
    return min(sizes) if sizes else 0


def glibc():
    """Return the version of the C library, or `unknown`."""
    try:
        version = ctypes.CDLL(None).gnu_get_libc_version
    except AttributeError:
        return "unknown"
    version.restype = ctypes.c_char_p
    return version().decode("ascii")


def _text(path):
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, IOError):
        return ""
