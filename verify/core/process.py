"""Run other programs with a time limit."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import errno
import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import threading

SUITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of prctl(2). Loaded here: a process that was just forked must not wait for the loader's lock.
_prctl = ctypes.CDLL(None).prctl
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36

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


def answer(done, beginning=""):
    """Return the JSON in the last line that a program has printed; None if it has none.

    beginning: of the line, where libraries may print others after it.
    """
    lines = [line for line in done.output.strip().splitlines() if line.startswith(beginning)]
    try:
        return json.loads(lines[-1])
    except (ValueError, IndexError):
        return None


class Started(object):
    """A program that runs beside this one; its output goes to a file.

    Raises OSError if it cannot be started.
    """

    def __init__(self, command, path, environment=None):
        self._path = path
        with io.open(path, "wb") as output:
            self._process = _start(command, environment, output)

    def finish(self, seconds):
        """Wait for the end, kill the program after `seconds`; return a Done."""
        kills = []
        timer = _kill_after(seconds, self._process, kills)
        try:
            self._process.wait()
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            _stop(timer)
        with io.open(self._path, encoding="utf-8", errors="replace") as file:
            return Done(self._process.returncode, file.read(), bool(kills))


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


def _start(command, environment, output=subprocess.PIPE):
    # The program ends with the thread that starts it. That is the main one: it waits for the end.
    parent = os.getpid()
    return subprocess.Popen(
        command,
        env=environment,
        stdout=output,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: end_with_parent(parent),
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


def end_with_parent(parent=None, number=signal.SIGKILL):
    """Have Linux send this process a signal when its parent ends, for whatever reason.

    parent: the parent's process id if it is known: it may have ended before this call.
    """
    _prctl(SET_PARENT_DEATH_SIGNAL, int(number), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), number)


def pipe():
    """Return the two ends of a pipe that started programs do not inherit."""
    ends = os.pipe()
    for end in ends:
        fcntl.fcntl(end, fcntl.F_SETFD, fcntl.fcntl(end, fcntl.F_GETFD) | fcntl.FD_CLOEXEC)
    return ends


def adopt_orphans():
    """Have Linux make this process the parent of its descendants whose own parent ends."""
    _prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    """Return the process ids of this process's children, as /proc has them."""
    found, own = set(), str(os.getpid())
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    # The name before it, in brackets, may have any character.
                    parent = file.read().rpartition(b")")[2].split()[1].decode("ascii")
            except (EnvironmentError, IndexError):
                continue
            if parent == own:
                found.add(int(name))
    return found


def end_children(but=frozenset()):
    """Kill all children, and their descendants where this process adopts orphans.

    but: the process ids of those that live on.
    """
    while True:
        left = children() - but
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError as error:
                if error.errno not in (errno.ESRCH, errno.ECHILD, errno.EINTR):
                    raise


def handle_signals(names, handler):
    """Install a handler for signals; return {number: the handler before}."""
    old_handlers = {}
    for signal_name in names:
        number = getattr(signal, signal_name)
        # A signal that a shell's `&` or nohup ignores stays ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            old_handlers[number] = signal.signal(number, handler)
    return old_handlers


def restore_signals(handlers):
    """Install the handlers that handle_signals has returned."""
    for number, handler in handlers.items():
        signal.signal(number, handler)
