"""A monotonic clock: a change of the system's date must not change a timing."""

from __future__ import absolute_import, division, print_function

import ctypes
import sys
import time

# CLOCK_MONOTONIC of clock_gettime(2) on Linux.
_MONOTONIC = 1


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def _python_2_clock():
    # Python 2 has no monotonic clock: its own are the date and the processor time.
    clock_gettime = ctypes.CDLL(None, use_errno=True).clock_gettime
    clock_gettime.argtypes = [ctypes.c_int, ctypes.POINTER(_Timespec)]

    def read():
        now = _Timespec()
        clock_gettime(_MONOTONIC, ctypes.byref(now))
        return now.seconds + now.nanoseconds * 1e-9

    return read


if sys.version_info[0] > 2:
    monotonic = time.perf_counter
elif sys.platform.startswith("linux"):
    monotonic = _python_2_clock()
else:
    monotonic = time.time
