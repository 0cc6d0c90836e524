"""Run other programs with a time limit."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import signal
import subprocess
import sys
import threading

SUITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# PR_SET_PDEATHSIG of prctl(2).
SET_PARENT_DEATH_SIGNAL = 1

Done = collections.namedtuple("Done", "status output timed_out")


def suite_command(name, *arguments):
    """Return the command line of one of the suite's programs: see verify/__main__.py."""
    return [sys.executable, SUITE, name] + list(arguments)


def call(command, seconds, environment=None):
    """Run a program, kill it after `seconds`; return a Done.

    Its output is standard output and standard error together. Raises OSError if the program cannot
    be started.
    """
    process = _start(command, environment)
    kills = []
    timer = _kill_after(seconds, process, kills)
    try:
        output = process.communicate()[0]
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        _stop(timer)
    return Done(process.returncode, output.decode("utf-8", "replace"), bool(kills))


def follow(command, seconds, environment, each):
    """Run a program and call `each` with each line that it prints; return a Done without output.

    It is killed after `seconds` without a line. Raises OSError if it cannot be started.
    """
    process = _start(command, environment)
    kills = []
    timer = _kill_after(seconds, process, kills)
    try:
        for line in iter(process.stdout.readline, b""):
            _stop(timer)
            each(line.decode("utf-8", "replace"))
            timer = _kill_after(seconds, process, kills)
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        _stop(timer)
        process.stdout.close()
    return Done(process.returncode, "", bool(kills))


def _start(command, environment):
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def _kill_after(seconds, process, kills):
    """Start the timer that kills a process and adds to the list `kills`."""

    def kill():
        kills.append(True)
        process.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    return timer


def _stop(timer):
    timer.cancel()
    # Python 2 prints an error at exit for a thread that has not ended.
    timer.join()


def end_with_parent(parent=None):
    """Have Linux kill this process when its parent ends, for whatever reason.

    parent: the parent's process id if it is known: it may have ended before this call.
    """
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
