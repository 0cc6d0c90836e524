"""Supervise the suite from a process of its own, in case a library that it calls never returns.

The suite's process cannot watch itself: compiled code of a framework that hangs holds the
interpreter's lock, so no other thread runs. The guard is its parent, because process 1 of a
container cannot be killed by a child. The supervisor, which the user has started, is the parent of
the guard: whichever of them is killed, another one ends all processes and removes the folder.
"""

from __future__ import absolute_import, division, print_function

import errno
import fcntl
import io
import os
import select
import shutil
import signal
import sys
import time

from verify.core import process, program, progress
from verify.core.portable import native

FAILED, INTERRUPTED = 1, 130
# In place of a step: the suite has run to its end, and no library has ended it, as the reference
# BLAS does on a wrong argument.
FINISHED = b"\0finished\n"
# Seconds without progress. The longest step of a healthy suite, with --full on a slow machine,
# takes a fifth of it.
LIMIT = 1200
# The limit is counted in parts: if all processes were suspended for a while, only one part is lost.
PARTS = 20
# Seconds between two lines of a log that say what the suite does.
BEAT = 15.0
# Seconds for an interrupted suite to end by itself: after ctrl-C, which reaches it as well, and
# after a signal of the supervisor's. A person waits less than a second for the end.
FIRST_GRACE, SECOND_GRACE = 0.3, 0.5
ENDING = ("SIGTERM", "SIGHUP")
# Of the folder: what C code writes to standard error.
ERRORS = "errors.txt"
HANG = "`%s` made no progress for %d s and was killed"
HANG_FIX = (
    "a library that it calls does not return, most likely the BLAS: try --blas-threads 1, "
    "then another library; for a slow machine, raise --limit"
)
DEATH = "the process died by signal %d at `%s`"
DEATH_FIX = (
    "the system's log names the library, or says that memory ran out: try another library, "
    "or free some memory"
)
END = "the process was ended with status %d at `%s`"
END_FIX = "a library that it calls ended it, and its message is above: try another library"


def supervise(name, run, limit=LIMIT, cause_of=lambda words: None):
    """Run `run(folder)` in a child process; return its exit status.

    The folder is temporary and removed at the end. If the child makes no progress for `limit`
    seconds, or dies, print at which step, and return the status of a failed check. cause_of: gets
    what C code has written to standard error; returns the causes.Cause of an end by it, or None.
    """
    with program.temporary_folder() as folder:
        others = process.children()
        process.adopt_orphans()
        alive, alive_writer = process.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        guard = os.fork()
        if not guard:
            os.close(alive_writer)
            _guard(_Supervisor(name, limit, folder, cause_of), run, alive)
        os.close(alive)
        status = _forward_signals(guard)
        os.close(alive_writer)
        process.end_children(but=others)
    return _end_as(name, status)


def _end_as(name, status):
    """Return the exit status of a wait status, or end by its signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:
            sys.stderr.write("%s: a process of the suite was killed\n  fix: run it again\n" % name)
            return FAILED
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        # Process 1 of a container survives the signal.
        return 128 + number
    return os.WEXITSTATUS(status)


def _forward_signals(guard):
    """Pass signals on to the guard until it ends; return its wait status."""

    def forward(number, frame):
        try:
            os.kill(guard, number)
        except OSError as error:
            # It has just ended.
            if error.errno != errno.ESRCH:
                raise

    old_handlers = process.handle_signals(("SIGINT",) + ENDING, forward)
    try:
        while True:
            try:
                return os.waitpid(guard, 0)[1]
            except OSError as error:
                # Python 2 does not resume waitpid after a signal.
                if error.errno != errno.EINTR:
                    raise
    finally:
        process.restore_signals(old_handlers)


def _guard(supervisor, run, alive):
    """Run the suite in a child process of this one; end with its exit status or signal."""
    process.adopt_orphans()
    # In the child this raises SystemExit.
    status = _supervise(supervisor, run, alive)
    process.end_children()
    shutil.rmtree(supervisor.folder, True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _supervise(supervisor, run, alive):
    steps, step_writer = process.pipe()
    wakeups, wakeup_writer = process.pipe()
    signals, guard = [], os.getpid()

    def on_signal(number, frame):
        signals.append(number)
        os.write(wakeup_writer, b"!")

    # A handler runs after select() if its signal comes just before it sleeps; this byte wakes it.
    fcntl.fcntl(wakeup_writer, fcntl.F_SETFL, os.O_NONBLOCK)
    signal.set_wakeup_fd(wakeup_writer)
    old_handlers = process.handle_signals(("SIGCHLD", "SIGINT") + ENDING, on_signal)
    child = os.fork()
    if not child:
        process.restore_signals(old_handlers)
        signal.set_wakeup_fd(-1)
        process.end_with_parent(guard)
        progress.supervisor = step_writer
        progress.divert_errors(os.path.join(supervisor.folder, ERRORS))
        try:
            status = run(supervisor.folder)
        except Exception:
            # With its own traceback, no library's doing.
            os.write(step_writer, FINISHED)
            raise
        os.write(step_writer, FINISHED)
        sys.exit(status)
    os.close(step_writer)
    supervisor.child = child
    return supervisor.run(steps, wakeups, alive, signals)


class _Supervisor(object):
    def __init__(self, name, limit, folder, cause_of):
        self.name, self.limit, self.folder, self.cause_of = name, limit, folder, cause_of
        self.child = None
        self.step = "starting"
        self.status = None
        self.finished = False

    def run(self, steps, wakeups, alive, signals):
        """Wait for the child to end, or end it; return the exit status.

        Negative: the signal that this process is to end by. alive: a pipe that ends with the
        supervisor's process.
        """
        sources, quiet = [steps, alive, wakeups], 0.0
        part = min(self.limit / float(PARTS), BEAT)
        began = said = time.time()
        while not self.ended():
            readable = _readable(sources, part)
            quiet = 0.0 if readable else quiet + part
            if time.time() - said >= BEAT:
                said = time.time()
                progress.still(native(self.step), said - began)
            if steps in readable and not self.read_step(steps):
                sources.remove(steps)
            if wakeups in readable:
                os.read(wakeups, 1024)
            if alive in readable:
                self.kill()
                return FAILED
            while signals:
                number = signals.pop(0)
                if number == signal.SIGINT:
                    return self.interrupt(steps)
                if number != signal.SIGCHLD:
                    self.kill()
                    return -number
            if quiet >= self.limit:
                self.kill()
                return self.fail(HANG % (native(self.step), self.limit), HANG_FIX)
        # The child may have written its last step just before its end.
        while steps in sources and _readable([steps], 0) and self.read_step(steps):
            pass
        if os.WIFSIGNALED(self.status):
            words = (os.WTERMSIG(self.status), native(self.step))
            return self.fail(DEATH % words, DEATH_FIX)
        status = os.WEXITSTATUS(self.status)
        if status == INTERRUPTED:
            progress.interrupted()
        elif not self.finished:
            return self.fail(END % (status, native(self.step)), END_FIX)
        else:
            sys.stderr.write(self.errors())
        return status

    def ended(self):
        """Return whether the child has ended."""
        if self.status is None:
            pid, status = os.waitpid(self.child, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def read_step(self, steps):
        """Read the child's present step; return False at the end of the pipe."""
        lines = os.read(steps, 65536).splitlines()
        names = [line for line in lines if line != FINISHED.strip(b"\n")]
        self.finished = self.finished or len(names) < len(lines)
        if names:
            self.step = names[-1].decode("utf-8", "replace")
        return bool(lines)

    def interrupt(self, steps):
        """Let the child end by itself, or end it, and say so; return INTERRUPTED."""
        if not self.ends_within(FIRST_GRACE):
            # The signal was not ctrl-C, which reaches both processes.
            os.kill(self.child, signal.SIGINT)
            if not self.ends_within(SECOND_GRACE):
                self.kill()
        # One that ends by itself has written an empty step.
        while _readable([steps], 0) and self.read_step(steps):
            pass
        is_own_end = os.WIFEXITED(self.status) or not self.step
        progress.interrupted("" if is_own_end else native(self.step))
        return INTERRUPTED

    def ends_within(self, seconds):
        """Wait for the child to end; return whether it has."""
        for _ in range(int(seconds / 0.05)):
            if self.ended():
                return True
            time.sleep(0.05)
        return self.ended()

    def kill(self):
        """Kill the child and wait for its end."""
        if not self.ended():
            os.kill(self.child, signal.SIGKILL)
        while not self.ended():
            time.sleep(0.05)

    def errors(self):
        """Return what C code has written to standard error."""
        try:
            with io.open(os.path.join(self.folder, ERRORS), "rb") as file:
                return native(file.read())
        except EnvironmentError:
            return ""

    def fail(self, message, fix):
        """Print what went wrong, its cause if it is known, and the fix; return the exit status."""
        progress.end()
        errors = self.errors()
        cause = self.cause_of(errors)
        if cause:
            message, fix = "%s\n  cause: %s" % (message, native(cause.what)), native(cause.fix)
        sys.stderr.write("%s%s: %s\n  fix: %s\n" % (errors, self.name, message, fix))
        sys.stderr.flush()
        return FAILED


def _readable(sources, seconds):
    try:
        return select.select(sources, [], [], seconds)[0]
    except (OSError, select.error) as error:
        # Python 2 does not resume select after a signal.
        if error.args[0] != errno.EINTR:
            raise
        return sources[-1:]
