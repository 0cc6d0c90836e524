"""What the programs of this folder have in common: their exit statuses, and how they end."""

from __future__ import print_function

import argparse
import platform
import sys

from verify.core import expectation as expectations
from verify.core import framework as frameworks

CANNOT_RUN, INTERRUPTED = 2, 130


def end(name, run, arguments):
    """Return the exit status of `run(arguments)`; tell in few words what stopped it.

    `arguments.debug` lets a traceback through where a file or folder was refused.
    """
    try:
        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except frameworks.FrameworkError as error:
        return cannot_run(name, error, error.fix)
    except expectations.ExpectationError as error:
        fix = "build the environment again; the builder writes this file"
        return cannot_run(name, error, fix)
    except EnvironmentError as error:
        if arguments.debug:
            raise
        fix = "look at the path, its permissions and the space on its disk"
        return cannot_run(name, error, fix)


def cannot_run(name, what, fix):
    """Say why the program `name` cannot run, and what to do; return its exit status."""
    version = platform.python_version()
    sys.stderr.write("%s cannot run with %s (Python %s)\n" % (name, sys.executable, version))
    sys.stderr.write("  %s\n" % what)
    sys.stderr.write("  fix: %s\n" % fix)
    return CANNOT_RUN


def positive(text):
    """Return a number of at least 1, for argparse."""
    return at_least(1, text)


def at_least(least, text):
    """Return a whole number that is not below `least`, for argparse."""
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError("at least %d" % least)
    return number
