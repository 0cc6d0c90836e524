"""Supervise the suite from a process of its own, in case a library that it calls never returns.

The suite's process cannot watch itself: compiled code of a framework that hangs holds the
interpreter's lock, so no other thread runs. The supervisor, which the user has started, is its
parent, because process 1 of a container cannot be killed by a child. If the supervisor is killed,
Linux kills the suite, and the next start removes the folder (program.temporary_folder).
"""

from __future__ import absolute_import, division, print_function

import contextlib
import errno
import os
import resource
import select
import signal
import sys
import time

from verify.core import ends, process, program, progress, surroundings
from verify.core.machine import read_text
from verify.core.portable import native

FAILED, INTERRUPTED = 1, 130
# In place of a step: the suite has run to its end, and no library has ended it, as the reference
# BLAS does on a wrong argument.
FINISHED = b"\0finished\n"
# Seconds without progress. The longest step of a healthy suite, with --full on a slow machine,
# takes a fifth of it.
LIMIT = 1200
# Poll interval, seconds: of signals, and of the suite's end where a program that it has forked
# still has the pipe. The limit is counted in such parts: if all processes were suspended for a
# while, only one part is lost.
POLL = 0.1
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Of the folder: what C code writes to standard error.
ERRORS = "errors.txt"
HANG = "`%s` made no progress for %d s%s and was killed"
HANG_FIX = "try --blas-threads 1, then another library; for a slow machine, raise --limit"
DEATH = "the process died by signal %d at `%s`%s"
END = "the process was ended with status %d at `%s`"
END_FIX = "a library that it calls ended it%s: try another library"


def supervise(name, run, limit=LIMIT, cause_of=lambda words: None):
    """Run `run(folder)` in a child process; return its exit status.

    The folder is temporary and removed at the end. If the child makes no progress for `limit`
    seconds, or dies, print at which step, and return the status of a failed check. cause_of: gets
    what C code has written to standard error, and the message; returns a causes.Cause, or None.
    """
    # The signals are the outer ones: a second ctrl-C would end the removal of the folder.
    with _kept_signals() as signals, program.temporary_folder() as folder:
        others = process.children()
        process.adopt_orphans()
        sys.stdout.flush()
        sys.stderr.flush()
        # In the child this raises SystemExit.
        status = _Supervisor(name, limit, folder, cause_of, signals).run(run)
        process.end_children(but=others)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
        # Process 1 of a container survives the signal.
        return 128 - status
    return status


@contextlib.contextmanager
def _kept_signals():
    """Give a list; in the block the signals of SIGNALS are added to it, and do nothing else."""
    came = []
    # A signal that a shell's `&` or nohup ignores stays ignored.
    numbers = [each for each in SIGNALS if signal.getsignal(each) != signal.SIG_IGN]
    before = [
        (each, signal.signal(each, lambda number, _: came.append(number))) for each in numbers
    ]
    try:
        yield came
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _name_time_limit():
    """Have the limit of `ulimit -t` end this process by a signal of its own, not by SIGKILL."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft == hard > 1:
        resource.setrlimit(resource.RLIMIT_CPU, (hard - 1, hard))


class _Supervisor(object):
    def __init__(self, name, limit, folder, cause_of, signals):
        self.name, self.limit, self.folder, self.cause_of = name, limit, folder, cause_of
        self.step = "starting"
        self.status = None
        self.finished = False
        self.is_slow_said = False
        self.signals = signals
        self.steps, self.step_writer = process.pipe()
        self.kills = ends.memory_kills()

    def run(self, run):
        """Run the suite in a child; return its exit status, or what ends it.

        Negative: the signal that this process is to end by.
        """
        parent, self.child = os.getpid(), os.fork()
        if self.child:
            os.close(self.step_writer)
            return self.watch()
        for number in SIGNALS:
            # Also ctrl-C, of which the supervisor tells.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        process.end_with_parent(parent)
        _name_time_limit()
        progress.supervisor = self.step_writer
        progress.divert_errors(os.path.join(self.folder, ERRORS))
        try:
            status = run(self.folder)
        except MemoryError:
            # What else runs at an end needs some, too; the supervisor has enough.
            os.write(2, b"MemoryError\n")
            os._exit(FAILED)
        except Exception:
            # With its own traceback, no library's doing.
            os.write(self.step_writer, FINISHED)
            raise
        os.write(self.step_writer, FINISHED)
        sys.exit(status)

    def watch(self):
        """Wait for the child to end, or end it; return as `run`."""
        sources, quiet = [self.steps], 0.0
        began = said = time.time()
        while not self.ended():
            # After the end of the pipe that of the process follows at once.
            part = min(self.limit / 20.0, POLL if sources else POLL / 10)
            has_step = _readable(sources, part)
            quiet = 0.0 if has_step else quiet + part
            if time.time() - said >= progress.BEAT and not self.finished:
                said = time.time()
                progress.still(native(self.step), said - began)
            if has_step and not self.read_step():
                sources = []
            if self.signals:
                # It has nothing to finish: its files are in the folder.
                self.kill()
                break
            if quiet >= progress.BEAT and not self.is_slow_said:
                self.is_slow_said = True
                self.say_slow()
            if quiet >= self.limit:
                library = ends.library_of(self.child)
                self.kill()
                where = " in %s" % library if library else ""
                return self.fail(HANG % (native(self.step), self.limit, where), HANG_FIX)
        # The child may have written its last step just before its end.
        while _readable(sources, 0) and self.read_step():
            pass
        if signal.SIGINT in self.signals:
            progress.interrupted(native(self.step))
            return INTERRUPTED
        if self.signals:
            return -self.signals[0]
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            kills = ends.memory_kills()
            kills = None if None in (kills, self.kills) else kills - self.kills
            what, fix = ends.by_signal(number, self.folder, kills)
            message = DEATH % (number, native(self.step), what)
            return self.fail(message, fix, number in ends.OF_CODE)
        status = os.WEXITSTATUS(self.status)
        if not self.finished:
            message = ", and its message is above" if self.errors() else ""
            return self.fail(END % (status, native(self.step)), END_FIX % message)
        sys.stderr.write(self.errors())
        return status

    def say_slow(self):
        """Name the variables that may be the reason, long before the limit."""
        names = _names_set()
        if names:
            words = (native(self.step), names, " ".join(surroundings.suspects(os.environ)))
            progress.log("  %s takes long%s\n  fix: if it never ends: unset %s" % words)

    def ended(self):
        """Return whether the child has ended."""
        if self.status is None:
            pid, status = os.waitpid(self.child, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def read_step(self):
        """Read the child's present step; return False at the end of the pipe."""
        lines = os.read(self.steps, 65536).splitlines()
        names = [line for line in lines if line != FINISHED.strip(b"\n")]
        self.finished = self.finished or len(names) < len(lines)
        if self.finished:
            self.step = "its end"
        elif names:
            self.step = names[-1].decode("utf-8", "replace")
        return bool(lines)

    def kill(self):
        """Kill the child and wait for its end."""
        os.kill(self.child, signal.SIGKILL)
        while not self.ended():
            time.sleep(POLL / 10)

    def errors(self):
        """Return what C code has written to standard error."""
        text = native(read_text(os.path.join(self.folder, ERRORS)))
        return text + "\n" * (text[-1:] not in ("", "\n"))

    def fail(self, message, fix, is_of_code=True):
        """Print what went wrong, its cause if it is known, and the fix; return the exit status.

        is_of_code: whether a variable may be the reason, as it changes what code runs.
        """
        progress.end()
        errors = self.errors()
        cause = self.cause_of("%s\n%s" % (errors, message))
        if cause:
            message, fix = "%s\n  cause: %s" % (message, native(cause.what)), native(cause.fix)
        elif is_of_code:
            names = surroundings.suspects(os.environ)
            message += _names_set()
            if names:
                fix = "unset %s, and run it again; if it ends so, too: %s" % (" ".join(names), fix)
        sys.stderr.write("%s%s: %s\n  fix: %s\n" % (errors, self.name, message, fix))
        sys.stderr.flush()
        return FAILED


def _names_set():
    """Return lines that name the variables which may keep a program from running, "" for none."""
    form = "\n  set here: %s=%s, which %s"
    values = [(name, os.environ[name]) for name in surroundings.suspects(os.environ)]
    return "".join(form % (pair + (surroundings.reason_of(*pair),)) for pair in values)


def _readable(sources, seconds):
    """Return whether the pipe, if there is one, can be read within so many seconds."""
    try:
        return bool(select.select(sources, [], [], seconds)[0])
    except (OSError, select.error) as error:
        # Python 2 does not resume select after a signal.
        if error.args[0] != errno.EINTR:
            raise
        return False
