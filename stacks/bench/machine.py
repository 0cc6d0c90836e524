"""The machine of a result, the processors to pin a run to, its noise, and busy loops beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from stacks.bench.result import Machine, Noise
from stacks.core.process import CommandError, quoted, start
from verify.core import machine as suite_machine

TOPOLOGY = Path("/sys/devices/system/cpu")
# Larger noise is a remark: cores, share of the cores, share of the highest clock.
OTHERS = 0.10
STEAL = 0.01
FREQUENCY = 0.90
# Prints a line when it begins. It ends at the end of its standard input, which the system closes
# when the process that started it ends, by whatever signal.
LOOP = """
import select
print(flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(100000):
        pass
"""


def describe(reports: Sequence[dict[str, Any]]) -> Machine:
    """Return this machine, with the highest peaks of its verification reports."""
    peaks: dict[str, dict[int, float]] = {}
    for peak in (each for report in reports for each in report["machine"]["peak"]):
        rates = peaks.setdefault(peak["dtype"], {})
        rates[peak["threads"]] = max(rates.get(peak["threads"], 0.0), peak["gflops"])
    content = suite_machine.described(peaks)
    return Machine.model_validate({**content, "peak": tuple(content["peak"])})


def is_here(report: dict[str, Any]) -> bool:
    """Say whether a report is of this machine, judged by processor, usable cores and kernel."""
    here, there = suite_machine.describe({}), report["machine"]
    return all(there[name] == here[name] for name in ("cpu", "cores", "kernel"))


def slug(text: str) -> str:
    """Return a text as a folder name: `AMD EPYC 7B13, 2 cores` gives amd-epyc-7b13-2-cores."""
    return str(suite_machine.folder_name(text))


def processors(count: int, topology: Path = TOPOLOGY) -> list[int]:
    """Return `count` of the usable processors: a core's second thread only after all cores."""
    used: dict[str, int] = {}
    ranked = []
    for number in sorted(os.sched_getaffinity(0)):
        path = topology / f"cpu{number}/topology/thread_siblings_list"
        core = path.read_text() if path.is_file() else str(number)
        ranked.append((used.setdefault(core, 0), number))
        used[core] += 1
    return [number for _, number in sorted(ranked)][:count]


@contextmanager
def pinned_to(cpus: Sequence[int]) -> Iterator[bool]:
    """Pin the block and its processes to some processors; gives whether the system allows it."""
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setaffinity(0, before)


def watch(cores: int, living: Callable[[], float] = lambda: 0.0) -> Callable[[], Noise]:
    """Watch what else the machine does from now on; the returned function gives its noise.

    cores: the usable ones. living: gives the processor seconds of our processes that still run; the
    system counts them as ours only after their end.
    """
    before = suite_machine.counters(living())

    def noise() -> Noise:
        after = suite_machine.counters(living())
        return Noise.model_validate(suite_machine.noise_between(before, after, cores))

    return noise


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and its ended children so far; 0 if it is gone."""
    # proc(5): utime, stime, cutime, cstime. The second field, in brackets, may have spaces.
    fields = suite_machine.text_of(f"/proc/{process}/stat").rpartition(")")[2].split()
    return float(sum(map(int, fields[11:15])) / suite_machine.TICKS)


def remarks(noises: Sequence[Noise]) -> list[str]:
    """Return a sentence for each kind of noise that the timings may have suffered from."""
    sentences = []
    of = f"of {len(noises)} measurements"
    noisy = [noise.others for noise in noises if noise.others > OTHERS]
    if noisy:
        sentences.append(
            f"other programs were busy in {len(noisy)} {of}, on up to {max(noisy):.1f} cores"
        )
    stolen = [noise.steal for noise in noises if noise.steal > STEAL]
    if stolen:
        sentences.append(
            f"the host took processor time away in {len(stolen)} {of}, up to {max(stolen):.0%}"
        )
    throttled = sum(noise.throttled for noise in noises)
    if throttled:
        sentences.append(f"the container's CPU limit stopped it for {throttled:.1f} s")
    clocks = [noise.frequency for noise in noises if noise.frequency]
    if clocks and min(clocks) < FREQUENCY * max(clocks):
        sentences.append(f"the cores' clock went from {min(clocks):.0f} to {max(clocks):.0f} MHz")
    return sentences


@contextmanager
def busy_loops(count: int) -> Iterator[list[int]]:
    """Run so many loops during the block; all are busy when it begins, and gone when it has ended.

    Gives their process ids. They may use the processors of this process. Raises CommandError if one
    cannot be started.
    """
    words = [sys.executable, "-I", "-S", "-c", LOOP]
    with ExitStack() as stack:
        processes = []
        for _ in range(count):
            process = start(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            assert process.stdout
            if not os.read(process.stdout.fileno(), 1):
                raise CommandError(quoted(words[:-1]), expected="a busy loop", found="it ended")
        yield [process.pid for process in processes]
