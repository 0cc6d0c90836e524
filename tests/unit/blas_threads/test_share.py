"""How processes that compute at the same time divide the machine: share.c on a /proc of files.

What a fork ends before it begins: forks.c beside copies of libgomp that count how often."""

import ctypes
import fcntl
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from unit.blas_threads import compiled

# A machine of sixteen processors, on which this process uses one.
AROUND = """
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>
static double seconds_now;
static int sixteen(pid_t pid, size_t size, cpu_set_t *mask)
{ (void)pid; (void)size; CPU_ZERO(mask); for (int i = 0; i < 16; i++) CPU_SET(i, mask); return 0; }
static int steady(clockid_t which, struct timespec *time)
{ (void)which; time->tv_sec = (time_t)seconds_now; time->tv_nsec = 0; return 0; }
#define sched_getaffinity sixteen
#define clock_gettime steady
#include "share.c"
int fair(int quota, int others, double now)
{ seconds_now = now; return share_now(quota, others, now).fair; }
int idle(int quota, int others, double now)
{ seconds_now = now; return share_now(quota, others, now).idle; }
"""
TICKS = os.sysconf("SC_CLK_TCK")
ALL = 1000


class Machine:
    """Sixteen processors, and what other processes and programs have used of them."""

    def __init__(self, proc: Path, library: ctypes.CDLL) -> None:
        self.proc, self.library = proc, library
        for name in ("fair", "idle"):
            getattr(self.library, name).argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_double)
        self.locks: dict[int, int] = {}
        self.seconds: dict[int, float] = {}
        self.now = 10
        self.all = 0.0
        (proc / "loadavg").touch()
        self.write()

    def write(self) -> None:
        ticks = int(self.all * TICKS)
        (self.proc / "stat").write_text(f"cpu {ticks} 0 0 9 9 0 0 0\ncpu3 {ticks} 0 0 9 9 0 0 0\n")
        for pid, seconds in self.seconds.items():
            (self.proc / str(pid)).mkdir(exist_ok=True)
            text = f"{pid} (a) b) R 1 1 1 0 -1 0 0 0 0 0 {int(seconds * TICKS)} 0 0 0 20 0 9"
            (self.proc / str(pid) / "stat").write_text(text)

    def starts(self, pid: int) -> None:
        file = os.open(self.proc / "loadavg", os.O_RDONLY)
        # struct flock, F_OFD_SETLK
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, pid, 1, 0))
        self.locks[pid], self.seconds[pid] = file, 0
        self.write()

    def is_killed(self, pid: int) -> None:
        os.close(self.locks.pop(pid))
        del self.seconds[pid]

    def pass_second(self, uses: dict[int, float], programs: float = 0) -> None:
        self.now += 1
        self.all += 1 + sum(uses.values()) + programs
        for pid, use in uses.items():
            self.seconds[pid] += use
        self.write()

    def fair(self, quota: int = ALL, others: int = 0) -> int:
        return int(self.library.fair(quota, others, self.now))

    def idle(self) -> int:
        return int(self.library.idle(ALL, 0, self.now))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    (proc := tmp_path / "proc").mkdir()
    machine = Machine(proc, compiled(tmp_path, AROUND, f'-DPROC="{proc}"'))
    yield machine
    for file in machine.locks.values():
        os.close(file)


def test_one_process_has_the_machine_and_other_programs_take_from_the_idle_ones_alone(
    machine: Machine,
) -> None:
    assert machine.fair() == machine.idle() == 16
    machine.fair()
    machine.pass_second({}, programs=12)
    assert (machine.fair(), machine.idle()) == (16, 4)


def test_four_have_a_quarter_each_and_the_rest_when_one_ends(machine: Machine) -> None:
    peers = (4001, 7, 4003)
    machine.fair()
    for pid in peers:
        machine.starts(pid)
    machine.pass_second({})
    machine.fair()
    machine.pass_second(dict.fromkeys(peers, 5.0))
    assert machine.fair() == machine.idle() == 4
    machine.is_killed(7)
    machine.pass_second({4001: 8, 4003: 8})
    assert machine.fair() == 5
    machine.is_killed(4001)
    machine.is_killed(4003)
    machine.pass_second({})
    assert machine.fair() == 16


def test_what_the_others_do_not_use_is_left(machine: Machine) -> None:
    for pid in (1, 2, 3):
        machine.starts(pid)
    machine.fair()
    machine.pass_second({1: 1, 2: 1, 3: 4})
    assert machine.fair() == 10


def test_one_that_waits_counts_as_none(machine: Machine) -> None:
    machine.starts(5)
    machine.fair()
    for _ in range(6):
        machine.pass_second({5: 0.02})
        machine.fair()
    assert machine.fair() == 16


def test_a_quota_is_divided(machine: Machine) -> None:
    machine.starts(5)
    machine.fair(4)
    machine.pass_second({5: 2})
    assert machine.fair(4) == 2


@pytest.mark.parametrize(
    ("others", "each"),
    [((0, 0, 0, 0), 16), ((3, 3, 3, 3), 4), ((1, 0, 1, 0), 8), ((0, 0, 0, 0, 0, 0, 0, 1), 16)],
)
def test_the_threads_that_are_in_calls_at_the_same_time_have_equal_parts(
    machine: Machine, others: tuple[int, ...], each: int
) -> None:
    for number in others * 30:
        found = machine.fair(others=number)
    assert found == each
    machine.pass_second({})
    assert machine.fair() == 16


def test_the_machine_is_looked_at_ten_times_a_second(machine: Machine) -> None:
    machine.fair()
    machine.starts(5)
    assert machine.fair() == 16


AROUND_FORKS = """
#include "forks.c"
static void nothing(int ended) { (void)ended; }
void begin(void) { forks_wait(nothing); }
"""
LIBGOMP = "int ended; int omp_pause_resource_all(int how) { ended += how; return 0; }"
PROGRAM = """
import ctypes, os, sys
copies = [ctypes.CDLL(path) for path in sys.argv[2:]]
ctypes.CDLL(sys.argv[1]).begin()
for _ in range(2):
    if not (child := os.fork()):
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print([ctypes.c_int.in_dll(copy, "ended").value for copy in copies])
"""


def test_a_fork_ends_the_threads_of_each_wheel_s_libgomp(tmp_path: Path) -> None:
    copies = []
    for name in ("libgomp-e985bcbb.so.1.0.0", "libgomp-24e2ab19.so.1", "libothers.so"):
        folder = tmp_path / name
        folder.mkdir()
        compiled(folder, LIBGOMP)
        copies.append((folder / "around.so").rename(folder / name))
    compiled(tmp_path, AROUND_FORKS)
    command = [sys.executable, "-c", PROGRAM, *map(str, (tmp_path / "around.so", *copies))]
    assert subprocess.check_output(command, text=True) == "[2, 2, 0]\n"
