"""The machine that is timed on, as results have it; processors to keep a run on."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stacks.bench.result import Machine, Peak

CPUINFO = Path("/proc/cpuinfo")
TOPOLOGY = Path("/sys/devices/system/cpu")


def describe(reports: Sequence[dict[str, Any]], cpuinfo: Path = CPUINFO) -> Machine:
    """Return this machine, with the highest peaks that its verification reports measured."""
    told = reports[0]["machine"]
    text = cpuinfo.read_text(errors="replace")
    peaks: dict[tuple[str, int], float] = {}
    for report in reports:
        for peak in report["machine"]["peak"]:
            key = (peak["dtype"], peak["threads"])
            peaks[key] = max(peaks.get(key, 0.0), peak["gflops"])
    return Machine(
        name=slug(f"{told['cpu']} {told['cores']} cores"),
        cpu=told["cpu"],
        vendor=told["vendor"],
        model=" ".join(_field(text, name) for name in ("cpu family", "model", "stepping")),
        microcode=_field(text, "microcode"),
        cores=told["cores"],
        memory=told["memory"],
        kernel=told["kernel"],
        glibc=told["glibc"],
        peak=tuple(
            Peak.model_validate({"dtype": dtype, "threads": threads, "gflops": rate})
            for (dtype, threads), rate in sorted(peaks.items())
        ),
    )


def is_here(report: dict[str, Any], cpuinfo: Path = CPUINFO) -> bool:
    """Say whether a report can be of this machine: a checkout may be shared by several."""
    told = report["machine"]
    here = (_field(cpuinfo.read_text(errors="replace"), "model name"), platform.release())
    return (told["cpu"], told["kernel"]) == here


def slug(text: str) -> str:
    """Return a text as the name of a folder: `AMD EPYC 7B13, 2 cores` is amd-epyc-7b13-2-cores."""
    plain = re.sub(r"\((R|TM|tm)\)|@.*?GHz|\b(CPU|Processor)\b", " ", text)
    return re.sub(r"[^a-z0-9.]+", "-", plain.lower()).strip("-.") or "machine"


def _field(text: str, name: str) -> str:
    found = re.search(rf"(?m)^{re.escape(name)}\s*: *(.+)$", text)
    return found[1].strip() if found else "unknown"


def usable() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def processors(count: int, topology: Path = TOPOLOGY) -> list[int]:
    """Return so many of the usable processors: a core's second thread only after every core."""
    seen: dict[str, int] = {}
    ranked = []
    for number in sorted(os.sched_getaffinity(0)):
        path = topology / f"cpu{number}/topology/thread_siblings_list"
        core = path.read_text() if path.is_file() else str(number)
        ranked.append((seen.setdefault(core, 0), number))
        seen[core] += 1
    return [number for _, number in sorted(ranked)][:count]


@contextmanager
def kept_to(cpus: Sequence[int]) -> Iterator[bool]:
    """Keep what is started in the block to some processors; gives whether the system allows it."""
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
