"""The machine of a result, and the processors to pin a run to."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stacks.bench.result import Machine, Peak
from stacks.core import cores
from verify.core import machine as suite_machine

CPUINFO = Path("/proc/cpuinfo")
TOPOLOGY = Path("/sys/devices/system/cpu")


def describe(reports: Sequence[dict[str, Any]], cpuinfo: Path = CPUINFO) -> Machine:
    """Return this machine, with the highest peaks of its verification reports.

    reports: at least one, all of this machine.
    """
    report_machine = reports[0]["machine"]
    text = cpuinfo.read_text(errors="replace")
    peaks: dict[tuple[str, int], float] = {}
    for report in reports:
        for peak in report["machine"]["peak"]:
            key = (peak["dtype"], peak["threads"])
            peaks[key] = max(peaks.get(key, 0.0), peak["gflops"])
    return Machine(
        name=slug(f"{report_machine['cpu']} {report_machine['cores']} cores"),
        cpu=report_machine["cpu"],
        vendor=report_machine["vendor"],
        model=_model(text),
        microcode=_field(text, "microcode"),
        cores=report_machine["cores"],
        memory=report_machine["memory"],
        kernel=report_machine["kernel"],
        glibc=report_machine["glibc"],
        peak=tuple(
            Peak.model_validate({"dtype": dtype, "threads": threads, "gflops": rate})
            for (dtype, threads), rate in sorted(peaks.items())
        ),
    )


def is_here(report: dict[str, Any], cpuinfo: Path = CPUINFO) -> bool:
    """Say whether a report is of this machine, judged by processor, usable cores and kernel."""
    cpu = _field(cpuinfo.read_text(errors="replace"), "model name")
    made_on = [report["machine"][name] for name in ("cpu", "cores", "kernel")]
    return made_on == [cpu, cores.usable(), platform.release()]


def has_processor(machine: Machine, cpuinfo: Path = CPUINFO) -> bool:
    """Say whether a result is of this kind of processor."""
    text = cpuinfo.read_text(errors="replace")
    here = (_field(text, "vendor_id"), _model(text))
    return (machine.vendor, machine.model) == here


def is_this(machine: Machine, cpuinfo: Path = CPUINFO) -> bool:
    """Say whether a result is of this machine, judged by processor and usable cores."""
    text = cpuinfo.read_text(errors="replace")
    here = (_field(text, "model name"), _model(text), cores.usable())
    return (machine.cpu, machine.model, machine.cores) == here


def slug(text: str) -> str:
    """Return a text as a folder name: `AMD EPYC 7B13, 2 cores` gives amd-epyc-7b13-2-cores."""
    return str(suite_machine.folder_name(text))


def _model(text: str) -> str:
    return " ".join(_field(text, name) for name in ("cpu family", "model", "stepping"))


def _field(text: str, name: str) -> str:
    match = re.search(rf"(?m)^{re.escape(name)}\s*: *(.+)$", text)
    return match[1].strip() if match else "unknown"


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
