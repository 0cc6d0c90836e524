"""What Python 2 and 3 have in different ways: text, a clock."""

from __future__ import absolute_import, division, print_function

import time

TEXT = type(b"".decode("ascii"))


def text(value):
    """Return a value as text. Bytes, which are Python 2's str, are decoded as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, TEXT) else text(str(value))


def native(value):
    """Return text as the type that streams take: Python 2's str, in UTF-8, or Python 3's."""
    # An exception's str() fails in Python 2 for letters beyond ASCII.
    if isinstance(value, Exception) and len(value.args) == 1:
        value = value.args[0]
    return text(value).encode("utf-8") if str is bytes else text(value)


# Python 2's clock may be set while a program runs.
monotonic = getattr(time, "perf_counter", time.time)
# A timing is steady when its two shortest samples differ by this share at most.
STEADY = 0.03


def seconds_of(call, calls=1):
    """Return the seconds that calls of a function without arguments take."""
    start = monotonic()
    for _ in range(calls):
        call()
    return monotonic() - start


def until_steady(sample, most):
    """Return samples of a timing: two, and more until it is steady, at most `most`.

    sample: a function that returns one, in any unit. Other programs only lengthen a sample, so two
    short ones that agree are those of a machine that was free.
    """
    samples = [sample(), sample()]
    while len(samples) < most and sorted(samples)[1] > (1 + STEADY) * min(samples):
        samples.append(sample())
    return samples
