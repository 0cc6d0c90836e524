"""Programs that are run to their end, or ended when their time is up."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import signal
import subprocess
import sys
import threading

SUITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SET_PARENT_DEATH_SIGNAL = 1

Done = collections.namedtuple("Done", "status output timed_out")


def suite_words(name, *arguments):
    """Return the command line of one of the suite's other programs: see verify/__main__.py."""
    return [sys.executable, SUITE, name] + list(arguments)


def call(words, seconds, environment=None):
    """Run a program and return a Done with its status and both its streams as one text.

    Raises OSError where the program cannot be started.
    """
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    late = []

    def end():
        late.append(True)
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        output = process.communicate()[0]
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        timer.cancel()
    return Done(process.returncode, output.decode("utf-8", "replace"), bool(late))


def follow(words, seconds, environment, each):
    """Run a program, hand each line of its output to `each`, and return a Done without output.

    It is ended when it has printed nothing for so many seconds. Raises OSError where it cannot be
    started.
    """
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    late = []

    def end():
        late.append(True)
        process.kill()

    timer = _started(seconds, end)
    try:
        for line in iter(process.stdout.readline, b""):
            _stop(timer)
            each(line.decode("utf-8", "replace"))
            timer = _started(seconds, end)
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        _stop(timer)
        process.stdout.close()
    return Done(process.returncode, "", bool(late))


def _started(seconds, function):
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    timer.start()
    return timer


def _stop(timer):
    timer.cancel()
    # Python 2 complains of threads that are still at their end when it ends.
    timer.join()


def end_with_parent(parent=None):
    """Have the system kill this process when the one that started it ends in any way.

    parent: its number, where that is known: it may have ended before this.
    """
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
