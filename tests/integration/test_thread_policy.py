"""How libblas_threads chooses a number of threads, on machines that are made up: no clock is read.

A machine is a function of a call's number of threads and of what the calls before took; the
processors that are free are the test's, too. Compiled with an environment's own compiler.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

Prefix = Callable[[str, str], Path]
SOURCES = REPOSITORY / "recipes/blas-threads/src"
LIBRARY = """
#include "policy.c"
int free_processors = 1;
int machine_has_free_processors(int count) { return count <= free_processors; }
int threads(int most, double now) { return policy_threads(1, most, now); }
void record(int threads, int most, double seconds, double now)
{
    policy_record(1, threads, most, seconds, now);
}
"""
ONE = 1e-4  # seconds of a call on one thread
SLEEP = 0.025  # seconds after which a thread of the library that waits goes to sleep


@dataclass
class Program:
    """A loop of calls of one size on two processors: the seconds of each, and its threads."""

    policy: ctypes.CDLL
    seconds: Callable[[int, float], float]  # by threads, and by the time since a call used all
    now: float = 1.0
    used: float = 0.0

    def calls(self, count: int) -> list[tuple[int, float]]:
        """Return threads and seconds of so many calls."""
        made = []
        for _ in range(count):
            threads = self.policy.threads(2, ctypes.c_double(self.now))
            seconds = self.seconds(threads, self.now - self.used)
            self.now += seconds
            if threads > 1:
                self.used = self.now
            times = ctypes.c_double(seconds), ctypes.c_double(self.now)
            self.policy.record(threads, 2, *times)
            made.append((threads, seconds))
        return made


@pytest.fixture
def policy(prefix: Prefix, tmp_path: Path) -> ctypes.CDLL:
    source, library = tmp_path / "library.c", tmp_path / "library.so"
    source.write_text(LIBRARY)
    gcc = prefix("theano-1.0.5", "openblas") / "bin/gcc"
    words = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{SOURCES}", "-shared", "-fPIC"]
    subprocess.run([gcc, *words, source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def set_free(policy: ctypes.CDLL, count: int) -> None:
    ctypes.c_int.in_dll(policy, "free_processors").value = count


def mean(made: list[tuple[int, float]]) -> float:
    return sum(seconds for _, seconds in made) / len(made)


def test_two_threads_that_gain_are_kept(policy: ctypes.CDLL) -> None:
    made = Program(policy, lambda threads, _: ONE if threads == 1 else 0.6 * ONE).calls(100)
    assert [threads for threads, _ in made] == [1] * 4 + [2] * 96


@pytest.mark.parametrize("waking", [0.0003, 0.004])
def test_threads_that_have_to_wake_are_kept_too(policy: ctypes.CDLL, waking: float) -> None:
    """A thread that sleeps takes up to a tick of the kernel to begin, and the next call none."""

    def seconds(threads: int, idle: float) -> float:
        return ONE if threads == 1 else 0.6 * ONE + (waking if idle > SLEEP else 0)

    made = Program(policy, seconds).calls(5000)
    assert {threads for threads, _ in made[5:]} == {2}


@pytest.mark.parametrize("share", [1.0, 1.1, 2.0, 10.0])
@pytest.mark.parametrize("waking", [0.0, 0.004])
def test_trials_that_gain_nothing_cost_little(
    policy: ctypes.CDLL, share: float, waking: float
) -> None:
    def seconds(threads: int, idle: float) -> float:
        return ONE if threads == 1 else share * ONE + (waking if idle > SLEEP else 0)

    program = Program(policy, seconds)
    program.calls(1000)
    assert mean(program.calls(50_000)) <= 1.05 * ONE


@pytest.mark.parametrize("told", [True, False])
def test_a_busy_machine_costs_little(policy: ctypes.CDLL, told: bool) -> None:
    """Each call on two threads waits for a processor; the system may not tell that it is busy."""
    set_free(policy, 0 if told else 1)
    program = Program(policy, lambda threads, _: ONE if threads == 1 else 0.02)
    made = program.calls(100_000)
    assert mean(made) <= (1.001 if told else 1.06) * ONE
    set_free(policy, 1)
    program.seconds = lambda threads, _: ONE if threads == 1 else 0.6 * ONE
    # At most two seconds after the machine has become idle.
    assert {threads for threads, _ in program.calls(21_000)[-1000:]} == {2}


def test_one_slow_call_is_forgiven_by_what_was_gained(policy: ctypes.CDLL) -> None:
    slow = iter([*[0.6 * ONE] * 50, 2.5 * ONE, *[0.6 * ONE] * 49])
    program = Program(policy, lambda threads, _: ONE if threads == 1 else next(slow))
    assert {threads for threads, _ in program.calls(104)[4:]} == {2}
