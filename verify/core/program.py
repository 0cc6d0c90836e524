"""What the suite's programs share: exit statuses, error messages, argument types."""

from __future__ import print_function

import argparse
import contextlib
import platform
import signal
import sys

from verify.core import expectation as expectations
from verify.core import framework as frameworks
from verify.core import progress
from verify.core.text import native

CANNOT_RUN, INTERRUPTED = 2, 130


def exit_status(name, run, arguments):
    """Return the exit status of `run(arguments)`, or print why it stopped and return that status.

    name: the program's, for messages.
    arguments: with `debug`, which lets the traceback of a file error through.
    """
    interrupts = []
    try:
        with _noting(interrupts):
            return run(arguments)
    except KeyboardInterrupt:
        progress.interrupted()
        return INTERRUPTED
    except frameworks.FrameworkError as error:
        if interrupts:
            progress.interrupted()
            return INTERRUPTED
        return cannot_run(name, error, error.fix)
    except expectations.ExpectationError as error:
        fix = "build the environment again; the builder writes this file"
        return cannot_run(name, error, fix)
    except EnvironmentError as error:
        if arguments.debug:
            raise
        fix = "look at the path, its permissions and the space on its disk"
        return cannot_run(name, error, fix)


@contextlib.contextmanager
def _noting(interrupts):
    """Add each interrupt to a list: NumPy's C code takes one for a module that is missing."""
    before = signal.getsignal(signal.SIGINT)

    def note(number, frame):
        interrupts.append(number)
        before(number, frame)

    if callable(before):
        signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)


def cannot_run(name, reason, fix):
    """Print why the program `name` cannot run and the fix; return its exit status."""
    version = platform.python_version()
    progress.end()
    sys.stderr.write("%s cannot run with %s (Python %s)\n" % (name, sys.executable, version))
    sys.stderr.write("  %s\n" % native(reason))
    sys.stderr.write("  fix: %s\n" % native(fix))
    return CANNOT_RUN


def positive(text):
    """Return a whole number of at least 1, for argparse."""
    return at_least(1, text)


def at_least(least, text):
    """Return a whole number of at least `least`, for argparse."""
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError("at least %d" % least)
    return number
