"""The progress on standard error: one changing line on a terminal, one fixed line in a log.

The frameworks are kept off it, and off standard output, which the table needs. They print the
compiler's messages when something does not compile. They also raise them, so the table shows them
from the exception. What they log says what the checks say, such as that no BLAS is linked.
"""

from __future__ import absolute_import, division, print_function

import atexit
import contextlib
import io
import os
import sys
import threading
import time

from verify.core.portable import text

CLEAR = "\r\033[K"
# Seconds between two lines of a log that say what is done.
BEAT = 15.0

# The pipe to the supervisor (watch.py), which gets each line too; None without a supervisor.
supervisor = None
# Whether the suite itself says that it was interrupted; the builder says so of all that it runs.
says_interrupted = True
_steps = [""]


def begin(duration):
    """Write the first line of a log: how long it takes. On a terminal note() shows the progress."""
    _write("verifying: about %s on an idle machine ...\n" % duration, False)


def still(step, seconds):
    """Write a line of a log that says what is done, and since when."""
    _write("  %s ... %.0f s\n" % (step, seconds), False)


def note(step):
    """Show the present step on a terminal, in place of the one before."""
    _steps[0] = step
    if supervisor is not None:
        os.write(supervisor, (text(step) + "\n").encode("utf-8"))
    _write(CLEAR + step + " ...", True)


@contextlib.contextmanager
def beat():
    """In the block, write to a log every BEAT seconds what this process does."""
    ended = []

    def write():
        began = time.time()
        while True:
            # Not the wait of an event, for which Python 2 wakes up twenty times a second.
            time.sleep(BEAT)
            if ended:
                return
            still(_steps[0], time.time() - began)

    thread = threading.Thread(target=write)
    thread.daemon = True
    if not sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        ended.append(True)


def log(message):
    """Write a line that stays, on a terminal too."""
    end()
    _write(message + "\n")


def interrupted(step=""):
    """Say that a person has interrupted, and at which step if it is known."""
    end()
    if says_interrupted:
        _write("interrupted%s\n" % (step and ", while " + step))


def end():
    """Clear the progress line of a terminal."""
    _write(CLEAR, True)


def _write(words, terminal=None):
    """Write words to standard error; terminal: only if it is one, or only if it is none."""
    stream = _streams[-1] if _streams else sys.stderr
    if terminal is None or stream.isatty() is terminal:
        stream.write(words)
        stream.flush()


# Open until the end: a module imported in the block may keep it, and write to it later.
# Like standard error it takes every letter.
_letters = {} if str is bytes else {"errors": "replace"}
_devnull = open(os.devnull, "w", **_letters)  # noqa: SIM115
atexit.register(_devnull.close)


# What is standard error outside of the block below.
_streams = []


@contextlib.contextmanager
def quiet(loud=False):
    """Discard in the block, unless `loud`, what others print and log; this module still writes."""
    before = sys.stdout, sys.stderr
    _streams.append(sys.stderr)
    if not loud:
        sys.stdout = sys.stderr = _devnull
    try:
        yield
    finally:
        _streams.pop()
        sys.stdout, sys.stderr = before


def divert_errors(path):
    """Have C code, and programs that this one starts, write their errors to a file.

    What Python writes to standard error goes on to where it went. The supervisor prints the file.
    """
    stream = os.dup(2)
    if str is bytes:
        sys.stderr = os.fdopen(stream, "w", 0)
    else:
        coding = sys.stderr.encoding or "utf-8"
        sys.stderr = io.open(stream, "w", 1, coding, "backslashreplace", None, False)  # noqa: SIM115
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 2)
    os.close(file)
