"""A monotonic clock, which no change of the system's date disturbs; how often to read it."""

from __future__ import absolute_import, division, print_function

import ctypes
import sys
import time

# CLOCK_MONOTONIC of clock_gettime(2) on Linux.
_MONOTONIC = 1
# A timing is steady when its two shortest samples differ by this share at most.
STEADY = 0.03


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


def until_steady(sample, most):
    """Return samples of a timing: two, and more until it is steady, at most `most`.

    sample: a function that returns one, in any unit. Other programs only lengthen a sample, so two
    short ones that agree are those of a machine that was free.
    """
    samples = [sample(), sample()]
    while len(samples) < most and not _is_steady(samples):
        samples.append(sample())
    return samples


def _is_steady(samples):
    shortest, second = sorted(samples)[:2]
    return second - shortest <= STEADY * shortest
