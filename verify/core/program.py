"""What the suite's programs share: exit statuses, error messages, argument types, a folder.

The next start removes the temporary folder of a program that was killed.
"""

from __future__ import absolute_import, division, print_function

import argparse
import contextlib
import errno
import fcntl
import os
import platform
import re
import shutil
import signal
import sys
import tempfile

from verify.core import causes, process, progress, surroundings
from verify.core import expectation as expectations
from verify.core import framework as frameworks
from verify.core.fixes import verify_command
from verify.core.portable import native

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
        if error.errno == errno.ENOENT and error.filename:
            return cannot_run(name, error, "make %s, or name another one" % error.filename)
        facts = causes.Facts("numpy", folders=[each for each in [tempfile.tempdir] if each])
        cause = causes.of(causes.message_of(error), facts)
        fix = cause.fix if cause else causes.unknown(verify_command() + " --debug")
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


def add_options(parser, in_environment=True):
    """Add the options that several programs have to a parser.

    in_environment: whether the program runs in the Python of the environment.
    """
    parser.add_argument("--json", metavar="FILE", help="write the report to FILE")
    parser.add_argument("--debug", action="store_true", help="print tracebacks")
    if not in_environment:
        return
    parser.add_argument(
        "--expect",
        metavar="FILE",
        help="compare with what the builder has locked; default: diagnose the environment",
    )
    parser.add_argument(
        "--blas-threads", metavar="N", type=positive, help="threads of the BLAS library"
    )


def check_folders(*paths):
    """Raise EnvironmentError for a path whose folder is missing. paths: None for no file."""
    for path in filter(None, paths):
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise EnvironmentError(errno.ENOENT, "no such folder", os.path.dirname(path))


def positive(text):
    """Return a whole number of at least 1, for argparse."""
    return at_least(1, text)


def at_least(least, text):
    """Return a whole number of at least `least`, for argparse."""
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError("at least %d" % least)
    return number


FOLDER_PREFIX = "theano-verify-"
# Of a folder that is not locked yet.
NEW_PREFIX = "." + FOLDER_PREFIX
# As tempfile.mkdtemp names them.
FOLDER_NAME = re.compile(re.escape(FOLDER_PREFIX) + "[a-zA-Z0-9_]{6,8}$")


@contextlib.contextmanager
def temporary_folder():
    """Give the path of a new temporary folder; remove it in the end.

    It is locked until this process and those that it forks have ended. Folders of this user that
    no process has locked are removed first.
    """
    _remove_unused()
    path, handle = _locked()
    owner = os.getpid()
    try:
        yield path
    finally:
        # A forked process leaves the block too, and its exit handlers may need the folder.
        if os.getpid() == owner:
            with process.interrupted_later():
                shutil.rmtree(path, True)
            os.close(handle)


def _locked():
    """Return (path, descriptor of its lock) of a new folder.

    It gets its name when it is locked: until then no other start takes it for an old one.
    """
    new = tempfile.mkdtemp(prefix=NEW_PREFIX)
    handle = os.open(new, os.O_RDONLY)
    fcntl.fcntl(handle, fcntl.F_SETFD, fcntl.fcntl(handle, fcntl.F_GETFD) | fcntl.FD_CLOEXEC)
    _lock(handle)
    path = os.path.join(os.path.dirname(new), os.path.basename(new)[1:])
    os.rename(new, path)
    return path, handle


def _lock(handle):
    """Lock a folder; return whether that was possible: some file systems have no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except EnvironmentError:
        return False
    return True


def _remove_unused():
    # A folder may be usable without being readable: then there is none.
    for path in surroundings.matching(tempfile.gettempdir(), FOLDER_PREFIX + "*"):
        if not FOLDER_NAME.match(os.path.basename(path)):
            continue
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
        except EnvironmentError:
            continue
        try:
            # Root may open those of other users.
            if os.fstat(handle).st_uid == os.geteuid() and _lock(handle):
                shutil.rmtree(path, True)
        finally:
            os.close(handle)
