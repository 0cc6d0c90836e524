"""How a supervised process ends: what its signal says, and which library it hangs in."""

from __future__ import absolute_import, division, print_function

import io
import os
import re
import signal
import struct
import time

from verify.core import machine
from verify.core.machine import read_text

# By which the code of a process ends it, each as a crash. OpenBLAS interrupts its process where it
# cannot start a thread.
CRASHES = (
    signal.SIGSEGV,
    signal.SIGABRT,
    signal.SIGFPE,
    signal.SIGTRAP,
    signal.SIGSYS,
    signal.SIGINT,
)
# Which a variable may lead to: another one may choose the code that runs.
OF_CODE = CRASHES + (signal.SIGILL,)
CRASH = (
    "",
    "a library that it calls crashed: try another one (`dmesg` names it, if you may read it)",
)
# Of a signal that is in neither.
SENT = (": another program sent it", "see what limits the time of the container or the batch job")
# What a signal says, and what to do.
SIGNALS = {
    signal.SIGILL: (
        ": an illegal instruction",
        "take a library, and compiler options, for this processor",
    ),
    signal.SIGBUS: (
        ": a file that it had mapped could not be read",
        "install again what was replaced while it ran",
    ),
    signal.SIGXCPU: (": its processor time is used up", "raise the limit: ulimit -t unlimited"),
    signal.SIGXFSZ: (": a file may not become so large", "raise the limit: ulimit -f unlimited"),
}
NO_MEMORY = "free some memory, or raise the limit of the container or the batch job"
SHARED_MEMORY = "/dev/shm"  # noqa: S108
# Bytes that are free on a full disk, and that are read of a stack.
FULL, STACK = 1 << 20, 1 << 16
# What waits, and copies, for the libraries that call it.
C_LIBRARY = re.compile(r"(libc|libm|libpthread|libdl|ld-[\w-]+)[.-]")


def memory_kills():
    """Return how many programs Linux has ended as memory ran out; None if it does not count."""
    found = re.search(r"(?m)^oom_kill (\d+)$", read_text("/proc/vmstat"))
    return int(found.group(1)) if found else None


def by_signal(number, folder, kills):
    """Return (what a signal says of the process that it has ended, what to do).

    folder: that the process has written into. kills: memory_kills() while it ran, or None.
    """
    if number == signal.SIGKILL:
        if kills:
            size, path = machine.memory_and_file()
            what = "%d program%s as memory ran out" % (kills, "s" * (kills > 1))
            what += ", which is %d MiB by %s" % (size >> 20, path) if path else ""
            return ": it was killed, and Linux ended " + what, NO_MEMORY
        if kills is None:
            return ": it was killed", "the system's log says whether memory ran out: " + NO_MEMORY
        return ": it was killed, while there was memory", SENT[1]
    if number == signal.SIGBUS:
        for place in filter(os.path.isdir, (folder, SHARED_MEMORY)):
            status = os.statvfs(place)
            if status.f_blocks and status.f_bavail * status.f_frsize < FULL:
                return ": %s is full" % place, "free some space there"
    return SIGNALS.get(number, CRASH if number in CRASHES else SENT)


def library_of(pid):
    """Stop a process; return the name of the library that it is in, None if that is not shown.

    The first address on its stack that leads into another file than the C library is where that
    returns to. Source: proc(5), `syscall`, `maps` and `mem`.
    """
    folder, words, end = "/proc/%d/" % pid, ["running"], time.time() + 1
    try:
        os.kill(pid, signal.SIGSTOP)
        while words == ["running"] and time.time() < end:
            words = read_text(folder + "syscall").split()
        pointer, at = (int(word, 16) for word in words[-2:])
        with io.open(folder + "mem", "rb", 0) as file:
            file.seek(pointer)
            stack = file.read(STACK)
    except (EnvironmentError, ValueError):
        return None
    code = re.findall(r"(?m)^(\w+)-(\w+) ..x\S* [^/\n]*(/.+)$", read_text(folder + "maps"))
    code = [(int(first, 16), int(last, 16), os.path.basename(path)) for first, last, path in code]
    count = len(stack) // 8
    for address in (at,) + struct.unpack("<%dQ" % count, stack[: 8 * count]):
        names = [name for first, last, name in code if first <= address < last]
        if names and not C_LIBRARY.match(names[0]):
            return names[0]
    return None
