"""The machine of a result, and the processors to pin a run to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stacks.bench.result import Machine
from verify.core import machine as suite_machine

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
