"""The machine of a result, the processors to pin a run to, and what else ran: its noise."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stacks.bench.result import Machine, Noise
from verify.core import machine as suite_machine
from verify.core import machine as suite_noise

TOPOLOGY = Path("/sys/devices/system/cpu")


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


# Larger noise is a remark: cores, share of the cores, share of the highest clock.
OTHERS = 0.10
STEAL = 0.01
FREQUENCY = 0.90

Reading = Mapping[str, Any]


def read(living: float = 0.0) -> Reading:
    """Return the machine's counters now.

    living: processor seconds of our processes that still run; the system counts them as ours only
    after their end.
    """
    reading: Reading = suite_noise.counters(living)
    return reading


def between(before: Reading, after: Reading, cores: int) -> Noise:
    """Return the noise between two readings, on so many usable cores."""
    return Noise.model_validate(suite_noise.noise_between(before, after, cores))


def processor_seconds(process: int) -> float:
    """Return the processor time of a process so far, without its children; 0 if it is gone."""
    # proc(5): utime, stime. The second field, a name in brackets, may have spaces.
    fields = suite_machine.text_of(f"/proc/{process}/stat").rpartition(")")[2].split()
    return float(sum(map(int, fields[11:13])) / suite_noise.TICKS)


def remarks(noises: Sequence[Noise]) -> list[str]:
    """Return a sentence for each kind of noise that the timings may have suffered from."""
    sentences = []
    noisy = [noise.others for noise in noises if noise.others > OTHERS]
    if noisy:
        sentences.append(
            f"other programs were busy in {len(noisy)} of {len(noises)} measurements, on up to "
            f"{max(noisy):.1f} cores"
        )
    stolen = [noise.steal for noise in noises if noise.steal > STEAL]
    if stolen:
        sentences.append(
            f"the host took processor time away in {len(stolen)} of {len(noises)} measurements, up "
            f"to {max(stolen):.0%}"
        )
    throttled = sum(noise.throttled for noise in noises)
    if throttled:
        sentences.append(f"the container's CPU limit stopped it for {throttled:.1f} s")
    clocks = [noise.frequency for noise in noises if noise.frequency]
    if clocks and min(clocks) < FREQUENCY * max(clocks):
        sentences.append(f"the cores' clock went from {min(clocks):.0f} to {max(clocks):.0f} MHz")
    return sentences
