"""Run other programs with a time limit; let none of them outlive this one."""

from __future__ import absolute_import, division, print_function

import collections
import contextlib
import ctypes
import errno
import fcntl
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import traceback

SUITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of prctl(2). Loaded here: a process that was just forked must not wait for the loader's lock.
_prctl = ctypes.CDLL(None).prctl
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36

# Of a line of a program's messages that names the cause.
CAUSE = re.compile(r"undefined symbol|cannot find -l|error:|No such file|not found")

# How the line begins that has the result of a function.
ANSWER = "verify-result "

Done = collections.namedtuple("Done", "status output timed_out")


class NoAnswerError(Exception):
    """A program has not printed what it was started for; the text says why."""


def suite_command(name, *arguments):
    """Return the command line of one of the suite's programs: see verify/__main__.py."""
    return [sys.executable, SUITE, name] + list(arguments)


def call(command, seconds, environment=None):
    """Run a program, kill it after `seconds`; return a Done.

    Its output is standard output and standard error together. Raises OSError if the program cannot
    be started.
    """
    process = _start(command, environment)
    with _Limit(process, seconds) as limit:
        output = process.communicate()[0]
    return Done(process.returncode, output.decode("utf-8", "replace"), limit.is_over)


def ask(seconds, environment, function, *arguments):
    """Call a function of the suite in a process of its own; return (its result, its Done).

    function, arguments: as `main` takes them. The result is None if it fails.
    """
    done = call(suite_command("probe", function, *arguments), seconds, environment)
    return answer(done), done


def answer(done):
    """Return the result that `main` has printed, None if it has not. Libraries print, too."""
    lines = [line for line in done.output.splitlines() if line.startswith(ANSWER)]
    try:
        return json.loads(lines[-1][len(ANSWER) :])
    except (ValueError, IndexError):
        return None


def main(argv):
    """Call the function of the suite that the first argument names; print its result as JSON.

    It is `MODULE:FUNCTION`, and gets the other arguments as text.
    """
    module, _, function = argv[0].partition(":")
    try:
        result = getattr(importlib.import_module("verify." + module), function)(*argv[1:])
    except Exception:
        # Also an ImportError, which is not of the suite: see __main__.cannot_start.
        traceback.print_exc()
        return 1
    print("\n" + ANSWER + json.dumps(result))
    return 0


def cause(text):
    """Return the line of a program's messages that names the cause, else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if CAUSE.search(line)]
    line = (causes or lines[-1:] or [""])[0]
    # A compiled module's name is a long hash in a temporary folder.
    return re.sub(r"\S*/m?[0-9a-f]{32,}\.so: ", "", line)[:240]


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
        with _Limit(self._process, seconds) as limit:
            self._process.wait()
        with io.open(self._path, encoding="utf-8", errors="replace") as file:
            return Done(self._process.returncode, file.read(), limit.is_over)

    def answer(self, seconds):
        """Wait as `finish` does; return the result that `main` prints. Raises NoAnswerError."""
        done = self.finish(seconds)
        found = answer(done)
        if found is not None:
            return found
        if done.timed_out:
            raise NoAnswerError("it did not end within %d s" % seconds)
        raise NoAnswerError(cause(done.output) or "it printed nothing")


def follow(command, seconds, environment, each):
    """Run a program and call `each` with each line that it prints; return a Done without output.

    It is killed after `seconds` without a line. Raises OSError if it cannot be started.
    """
    process = _start(command, environment)
    try:
        with _Limit(process, seconds) as limit:
            for line in iter(process.stdout.readline, b""):
                limit.stop()
                each(line.decode("utf-8", "replace"))
                limit.start()
            process.wait()
    finally:
        process.stdout.close()
    return Done(process.returncode, "", limit.is_over)


def _start(command, environment, output=subprocess.PIPE):
    # The program ends with the thread that starts it. That is the main one: it waits for the end.
    parent = os.getpid()
    with interrupted_later():
        return subprocess.Popen(
            command,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: end_with_parent(parent),
        )


def in_child(run):
    """Call `run` in a forked process that ends with it and with this one; return its process id.

    Its status is 0 if `run` returns, 1 if it raises, which prints nothing.
    """
    parent, child, status = os.getpid(), None, 1
    try:
        with interrupted_later():
            child = os.fork()
        if child == 0:
            end_with_parent(parent)
            run()
            status = 0
    finally:
        if child == 0:
            os._exit(status)
    return child


@contextlib.contextmanager
def interrupted_later():
    """Let an interrupt come after the block: within a fork Python prints it, and goes on.

    In the block, a forked process has its own.
    """
    before, noted = signal.getsignal(signal.SIGINT), []
    try:
        if callable(before):
            signal.signal(signal.SIGINT, lambda number, frame: noted.append((number, frame)))
    except ValueError:
        # Only the main thread is interrupted.
        before = None
    try:
        yield
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
            for number, frame in noted[:1]:
                before(number, frame)


class _Limit(object):
    """Kills a process after so many seconds, and if the block raises. For the main thread only.

    A signal counts, not a thread: with little memory Python may wait for ever for one to start.
    """

    def __init__(self, process, seconds):
        self._process, self._seconds, self.is_over = process, seconds, False

    def __enter__(self):
        self._before = signal.signal(signal.SIGALRM, self._end)
        self.start()
        return self

    def __exit__(self, kind, *_):
        try:
            if kind:
                self._process.kill()
                self._process.wait()
        finally:
            self.stop()
            signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)

    def start(self):
        """Begin to count."""
        # Again each second: the first signal may come just before this process waits.
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 1)

    def _end(self, number, frame):
        self.is_over = True
        try:
            self._process.kill()
        except OSError:  # It has just ended.
            pass

    def stop(self):
        """Count no more."""
        signal.setitimer(signal.ITIMER_REAL, 0)


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
