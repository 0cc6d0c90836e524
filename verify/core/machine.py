"""The machine of a report: its hardware and system, and nothing that names its owner."""

from __future__ import absolute_import, division, print_function

import ctypes
import io
import os
import platform
import re


def describe(peaks):
    """Return the machine for the report; `peaks` is {dtype: {threads: GFLOP/s}}."""
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
    field = re.search(r"^%s\s*:\s*(.+)$" % re.escape(name), text_of("/proc/cpuinfo"), re.MULTILINE)
    return field.group(1).strip() if field else None


def physical_cores():
    """Return how many cores the machine has without hyperthreads, or None if it is not known."""
    text = text_of("/proc/cpuinfo")
    cores = set(re.findall(r"^physical id\s*:\s*(\d+).*?^core id\s*:\s*(\d+)", text, re.M | re.S))
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
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    mask = re.search(r"^Cpus_allowed:\s*([0-9a-f,]+)", text_of("/proc/self/status"), re.MULTILINE)
    number = int(mask.group(1).replace(",", ""), 16) if mask else 1
    return {core for core in range(number.bit_length()) if number >> core & 1}


def usable_cores():
    """Return how many cores this process can use: its affinity, bounded by cgroup quotas."""
    limit = quota()
    cores = affine_cores()
    # Rounded up: with a quota of 1.5 cores a second thread still helps.
    return max(1, min(cores, int(-(-limit // 1)))) if limit else cores


def quota():
    """Return how many cores a container's limit allows, None without a limit."""
    return quota_and_file()[0]


def quota_and_file():
    """Return (cores that a container's limit allows, the file that has it); (None, None) without.

    Of several limits the lowest counts.
    """
    cores = []
    for folder in cgroup_folders():
        limit = text_of(os.path.join(folder, "cpu.max")).split()
        if len(limit) == 2 and limit[0] != "max":
            path = os.path.join(folder, "cpu.max")
            cores.append((float(limit[0]) / float(limit[1]), path))
        old = text_of(os.path.join(folder, "cpu.cfs_quota_us")).strip()
        period = text_of(os.path.join(folder, "cpu.cfs_period_us")).strip()
        if old and period and int(old) > 0:
            path = os.path.join(folder, "cpu.cfs_quota_us")
            cores.append((int(old) / float(period), path))
    return min(cores) if cores else (None, None)


def cgroup_folders():
    """Return the folders of this process's control groups and of their parents."""
    folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"]
    for line in text_of("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        base = "/sys/fs/cgroup"
        if controllers:
            base = os.path.join(base, controllers)
        while path not in ("/", ""):
            folders.append(base + path)
            path = os.path.dirname(path)
    return folders


def memory_bytes():
    """Return the bytes of memory this process may use: the machine's, bounded by cgroup limits."""
    total = re.search(r"^MemTotal:\s*(\d+) kB", text_of("/proc/meminfo"), re.MULTILINE)
    sizes = [int(total.group(1)) * 1024] if total else []
    for folder in cgroup_folders():
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = text_of(os.path.join(folder, name)).strip()
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


def text_of(path):
    """Return the text of a file of the system, empty if it cannot be read."""
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, IOError):
        return ""


# When this module is imported no library is loaded.
CORES = _cores()
