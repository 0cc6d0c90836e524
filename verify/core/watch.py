"""A process over the suite's own, for when a library that the suite calls does not return.

The suite's process cannot watch itself: where compiled code of a framework hangs, it holds the
interpreter's lock, and no other thread runs. As process 1 of a container it could not be ended by
a process below it, either.
"""

from __future__ import absolute_import, division, print_function

import errno
import fcntl
import os
import select
import shutil
import signal
import sys
import tempfile
import time

from verify.core import process, progress

FAILED, INTERRUPTED = 1, 130
# Seconds without a sign of the suite: the longest step of a sound one, with --full on a slow
# machine, takes a fifth of it.
LIMIT = 1200
# The limit is counted in parts: where all processes were stopped for a while, one part is lost.
PARTS = 20
# Seconds in which an interrupted suite ends by itself: one that ctrl-C has reached, another that
# was told here.
FIRST_GRACE, SECOND_GRACE = 1.0, 10.0
ENDING = ("SIGTERM", "SIGHUP")


def over(name, run, limit=LIMIT):
    """Return the exit status of `run(folder)`, done in a process of its own.

    `folder` is a temporary one that is removed in the end. Where nothing is heard of the process
    for `limit` seconds, or where it dies, say at what, and return the status of a failed check.
    """
    folder, parent = tempfile.mkdtemp(prefix=name + "-"), os.getpid()
    try:
        status = _over(name, run, limit, folder, parent)
    finally:
        # The other process has exit handlers of the framework's yet to run, which look into it.
        if os.getpid() == parent:
            shutil.rmtree(folder, True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(parent, -status)
        # Process 1 of a container does not die of it.
        return 128 - status
    return status


def _over(name, run, limit, folder, parent):
    heard, said = _pipe()
    woken, wake = _pipe()
    caught, before = [], {}

    def note(number, frame):
        caught.append(number)
        os.write(wake, b"!")

    for signal_name in ("SIGCHLD", "SIGINT") + ENDING:
        number = getattr(signal, signal_name)
        # What a shell's `&` or nohup has turned off stays so.
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, note)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        for number, handler in before.items():
            signal.signal(number, handler)
        process.end_with_parent(parent)
        progress.watched = said
        sys.exit(run(folder))
    os.close(said)
    try:
        return _Watch(name, child, limit).run(heard, woken, caught)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for descriptor in (heard, woken, wake):
            os.close(descriptor)


class _Watch(object):
    def __init__(self, name, child, limit):
        self.name, self.child, self.limit = name, child, limit
        self.last = "starting"
        self.status = None

    def run(self, heard, woken, caught):
        """Wait for the process to end, or end it; return the exit status for it."""
        sources, quiet = [heard, woken], 0
        while not self.ended():
            readable = _readable(sources, self.limit / float(PARTS))
            quiet = 0 if readable else quiet + 1
            if heard in readable and not self.listen(heard):
                sources.remove(heard)
            if woken in readable:
                os.read(woken, 1024)
            while caught:
                number = caught.pop(0)
                if number == signal.SIGINT:
                    return self.interrupt()
                if number != signal.SIGCHLD:
                    return self.end_by(number)
            if quiet >= PARTS:
                return self.give_up()
        # What it said last may have come just before its end.
        while heard in sources and _readable([heard], 0) and self.listen(heard):
            pass
        if os.WIFSIGNALED(self.status):
            return self.tell_of_death(os.WTERMSIG(self.status))
        return os.WEXITSTATUS(self.status)

    def ended(self):
        """Say whether the process has ended."""
        if self.status is None:
            found, status = os.waitpid(self.child, os.WNOHANG)
            self.status = status if found else None
        return self.status is not None

    def listen(self, heard):
        """Take in what the process says that it does; False where it will say nothing more."""
        lines = os.read(heard, 65536).splitlines()
        if lines:
            self.last = lines[-1].decode("utf-8", "replace")
        return bool(lines)

    def interrupt(self):
        """Let the process end by itself; return its status, or that of what was interrupted."""
        if not self.ends_within(FIRST_GRACE):
            # It was not ctrl-C, which reaches both.
            os.kill(self.child, signal.SIGINT)
            if not self.ends_within(SECOND_GRACE):
                self.kill()
                progress.end()
                sys.stderr.write("interrupted, while %s\n" % _shown(self.last))
                return INTERRUPTED
        return os.WEXITSTATUS(self.status) if os.WIFEXITED(self.status) else INTERRUPTED

    def ends_within(self, seconds):
        """Wait for the process to end; say whether it has."""
        for _ in range(int(seconds / 0.05)):
            if self.ended():
                return True
            time.sleep(0.05)
        return self.ended()

    def kill(self):
        """End the process."""
        if not self.ended():
            os.kill(self.child, signal.SIGKILL)
        while not self.ended():
            time.sleep(0.05)

    def end_by(self, number):
        """End the process; return, as a negative one, the signal that this one is to die of."""
        self.kill()
        return -number

    def give_up(self):
        """End a process that hangs, and say at what; return the exit status."""
        self.kill()
        what = "`%s` has not gone on for %d s and was ended" % (_shown(self.last), self.limit)
        fix = (
            "a library that it calls does not return, most likely the BLAS: try --blas-threads 1, "
            "then another library; a machine that is merely slow needs a larger --limit"
        )
        return self.tell(what, fix)

    def tell_of_death(self, number):
        """Say at what the process died by a signal; return the exit status."""
        what = "the process died by signal %d at `%s`" % (number, _shown(self.last))
        fix = (
            "the system's log names the library, or says that memory ran out: put another in its "
            "place, or free some memory"
        )
        return self.tell(what, fix)

    def tell(self, what, fix):
        """Say what went wrong; return the exit status."""
        progress.end()
        sys.stderr.write("%s: %s\n  fix: %s\n" % (self.name, what, fix))
        sys.stderr.flush()
        return FAILED


def _shown(what):
    # Python 2 writes its own text type in ASCII where standard error is no terminal.
    return what if str is not bytes else what.encode("utf-8")


def _pipe():
    """Return the two ends of a pipe that no program which is started gets."""
    ends = os.pipe()
    for end in ends:
        fcntl.fcntl(end, fcntl.F_SETFD, fcntl.fcntl(end, fcntl.F_GETFD) | fcntl.FD_CLOEXEC)
    return ends


def _readable(sources, seconds):
    try:
        return select.select(sources, [], [], seconds)[0]
    except (OSError, select.error) as error:
        # Python 2 does not go on after a signal.
        if error.args[0] != errno.EINTR:
            raise
        return sources[-1:]
