"""Supervise the suite from a process of its own, in case a library that it calls never returns.

The suite's process cannot watch itself: compiled code of a framework that hangs holds the
interpreter's lock, so no other thread runs. The guard is its parent, because process 1 of a
container cannot be killed by a child. The supervisor, which the user has started, is the parent of
the guard: whichever of them is killed, another one ends all processes and removes the folder.
"""

from __future__ import absolute_import, division, print_function

import errno
import fcntl
import os
import select
import shutil
import signal
import sys
import time

from verify.core import process, progress, scratch

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


def supervise(name, run, limit=LIMIT):
    """Run `run(folder)` in a child process; return its exit status.

    The folder is temporary and removed at the end. If the child makes no progress for `limit`
    seconds, or dies, print at which step, and return the status of a failed check.
    """
    with scratch.folder() as folder:
        others = process.children()
        process.adopt_orphans()
        alive, alive_writer = _pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        guard = os.fork()
        if not guard:
            os.close(alive_writer)
            _guard(name, run, limit, folder, alive)
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

    old_handlers = _handle(("SIGINT",) + ENDING, forward)
    try:
        while True:
            try:
                return os.waitpid(guard, 0)[1]
            except OSError as error:
                # Python 2 does not resume waitpid after a signal.
                if error.errno != errno.EINTR:
                    raise
    finally:
        _restore(old_handlers)


def _guard(name, run, limit, folder, alive):
    """Run the suite in a child process of this one; end with its exit status or signal."""
    process.adopt_orphans()
    # In the child this raises SystemExit.
    status = _supervise(name, run, limit, folder, alive)
    process.end_children()
    shutil.rmtree(folder, True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _handle(names, handler):
    """Install a handler for signals; return {number: the handler before}."""
    old_handlers = {}
    for signal_name in names:
        number = getattr(signal, signal_name)
        # A signal that a shell's `&` or nohup ignores stays ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            old_handlers[number] = signal.signal(number, handler)
    return old_handlers


def _restore(handlers):
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _supervise(name, run, limit, folder, alive):
    steps, step_writer = _pipe()
    wakeups, wakeup_writer = _pipe()
    signals, guard = [], os.getpid()

    def on_signal(number, frame):
        signals.append(number)
        os.write(wakeup_writer, b"!")

    # A handler runs after select() if its signal comes just before it sleeps; this byte wakes it.
    fcntl.fcntl(wakeup_writer, fcntl.F_SETFL, os.O_NONBLOCK)
    signal.set_wakeup_fd(wakeup_writer)
    old_handlers = _handle(("SIGCHLD", "SIGINT") + ENDING, on_signal)
    child = os.fork()
    if not child:
        _restore(old_handlers)
        signal.set_wakeup_fd(-1)
        process.end_with_parent(guard)
        progress.supervisor = step_writer
        try:
            status = run(folder)
        except Exception:
            # With its own traceback, no library's doing.
            os.write(step_writer, FINISHED)
            raise
        os.write(step_writer, FINISHED)
        sys.exit(status)
    os.close(step_writer)
    return _Supervisor(name, child, limit).run(steps, wakeups, alive, signals)


class _Supervisor(object):
    def __init__(self, name, child, limit):
        self.name, self.child, self.limit = name, child, limit
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
                progress.still(_printable(self.step), said - began)
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
                return self.report_hang()
        # The child may have written its last step just before its end.
        while steps in sources and _readable([steps], 0) and self.read_step(steps):
            pass
        if os.WIFSIGNALED(self.status):
            return self.report_death(os.WTERMSIG(self.status))
        status = os.WEXITSTATUS(self.status)
        if status == INTERRUPTED:
            progress.interrupted()
        elif not self.finished:
            return self.report_exit(status)
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
        progress.interrupted("" if is_own_end else _printable(self.step))
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

    def report_hang(self):
        """Kill the child and print at which step it hangs; return the exit status."""
        self.kill()
        return self.fail(
            "`%s` made no progress for %d s and was killed" % (_printable(self.step), self.limit),
            "a library that it calls does not return, most likely the BLAS: try --blas-threads 1, "
            "then another library; for a slow machine, raise --limit",
        )

    def report_death(self, number):
        """Print the signal and the step at which the child died; return the exit status."""
        return self.fail(
            "the process died by signal %d at `%s`" % (number, _printable(self.step)),
            "the system's log names the library, or says that memory ran out: try another library, "
            "or free some memory",
        )

    def report_exit(self, status):
        """Print the step at which a library ended the process; return the exit status."""
        return self.fail(
            "the process was ended with status %d at `%s`" % (status, _printable(self.step)),
            "a library that it calls ended it, and its message is above: if it is MKL's, link its "
            "one library, mkl_rt, in place of its layers; else try another library",
        )

    def fail(self, message, fix):
        """Print what went wrong and the fix; return the exit status."""
        progress.end()
        sys.stderr.write("%s: %s\n  fix: %s\n" % (self.name, message, fix))
        sys.stderr.flush()
        return FAILED


def _printable(step):
    # Python 2 encodes its text type as ASCII where standard error is no terminal.
    return step if str is not bytes else step.encode("utf-8")


def _pipe():
    """Return the two ends of a pipe that started programs do not inherit."""
    ends = os.pipe()
    for end in ends:
        fcntl.fcntl(end, fcntl.F_SETFD, fcntl.fcntl(end, fcntl.F_GETFD) | fcntl.FD_CLOEXEC)
    return ends


def _readable(sources, seconds):
    try:
        return select.select(sources, [], [], seconds)[0]
    except (OSError, select.error) as error:
        # Python 2 does not resume select after a signal.
        if error.args[0] != errno.EINTR:
            raise
        return sources[-1:]
