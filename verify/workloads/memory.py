"""The memory of a compiled function: the most that a call takes, and what it keeps afterwards."""

from __future__ import absolute_import, division, print_function

import ctypes
import io

from verify.workloads import graph

STATUS, CLEAR = "/proc/self/status", "/proc/self/clear_refs"
# proc(5): resets the peak of the resident set.
RESET_PEAK = "5\n"


def peak(call):
    """Return the bytes that a call takes beyond what the process holds before it.

    None if the system does not let a process reset its peak.
    """
    # What an earlier call has freed may still belong to the process.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    try:
        with open(CLEAR, "w") as file:
            file.write(RESET_PEAK)
    except EnvironmentError:
        return None
    before = resident("VmRSS")
    call()
    return max(0, resident("VmHWM") - before)


def resident(name):
    """Return a size in /proc/self/status, in bytes."""
    with io.open(STATUS, encoding="utf-8") as file:
        [line] = [line for line in file if line.startswith(name + ":")]
    return 1024 * int(line.split()[1])


def kept(function):
    """Return the bytes of results that a function and its scans keep between calls.

    Arrays that share memory count once; inputs, shared variables and constants do not.
    """
    results, given = {}, set()
    for each in graph.functions_in(function):
        for variable, cell in getattr(graph.machine_of(each), "storage_map", {}).items():
            array = _owner(cell[0])
            if variable.owner is None:
                given.add(id(array))
            else:
                results[id(array)] = getattr(array, "nbytes", 0)
    return sum(size for key, size in results.items() if key not in given)


def _owner(value):
    """Return the array that owns the memory of an array."""
    while getattr(value, "base", None) is not None:
        value = value.base
    return value
