"""A clock that no one can set: timings must not change when the system's date does."""

from __future__ import absolute_import, division, print_function

import ctypes
import sys
import time

_MONOTONIC = 1


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def _of_python_2():
    # Python 2's own clocks are the date, and the processor's time.
    get = ctypes.CDLL(None, use_errno=True).clock_gettime
    get.argtypes = [ctypes.c_int, ctypes.POINTER(_Timespec)]

    def read():
        now = _Timespec()
        get(_MONOTONIC, ctypes.byref(now))
        return now.seconds + now.nanoseconds * 1e-9

    return read


if sys.version_info[0] > 2:
    monotonic = time.perf_counter
elif sys.platform.startswith("linux"):
    monotonic = _of_python_2()
else:
    monotonic = time.time
