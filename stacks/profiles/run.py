"""Workloads, run as a program in an environment; their reports, kept and read."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.core.disk import write_whole
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import attached
from stacks.core.workspace import Workspace
from stacks.environments import settings
from stacks.environments.reports import workload_reports
from stacks.environments.verify import NO_DEVICE, SUITE, environment
from stacks.variants.variant import Variant, load_variant

PROGRAM = (SUITE, "workload")
SCHEMA = 1
WORKLOADS = ("ntm", "gibbs", "scan_gc", "lstm", "logreg", "check_blas")


class WorkloadError(StacksError):
    """A workload did not run to its end."""


@dataclass(frozen=True)
class Wish:
    """What of a workload is to be run: empty and zero leave it to the program."""

    workload: str
    calls: int = 0
    case: str = ""
    linker: str = ""
    small: bool = False
    fix_scan: bool = False

    def words(self) -> list[str]:
        """Return the program's arguments."""
        words = [self.workload]
        if self.calls:
            words += ["--calls", str(self.calls)]
        if self.case:
            words += ["--case", self.case]
        if self.linker:
            words += ["--linker", self.linker]
        if self.fix_scan:
            words.append("--fix-scan")
        return [*words, "--small"] if self.small else words


def report_path(workspace: Workspace, variant: Variant, workload: str) -> Path:
    """Return where the last report of a workload on a variant lies."""
    return workload_reports(workspace, variant) / f"{workload}.json"


def check_workload(name: str) -> None:
    """Raise UsageError where there is no workload of that name."""
    if name not in WORKLOADS:
        raise UsageError(
            f"no workload {name or 'is named'}",
            expected=", ".join(WORKLOADS),
            fix="./invoke profile --variant NAME --workload ntm",
        )


def profile(
    workspace: Workspace,
    variant: Variant,
    prefix: Path,
    wish: Wish,
    *,
    compiles: int = 1,
    json_file: Path | None = None,
) -> None:
    """Run a workload, print its tables, keep its report.

    With several `compiles` it is compiled as often, each time by a new process; the report that is
    kept is of the graph that came most often, the fastest of those, and says how often each came.

    Raises UsageError for an unknown workload or case, WorkloadError where it does not run.
    """
    check_workload(wish.workload)
    if compiles < 1:
        raise UsageError("nothing to compile", expected="--compiles 1 or more")
    reports = []
    for number in range(compiles):
        if compiles > 1:
            print(f"compile {number + 1} of {compiles} ...", file=sys.stderr, flush=True)
        reports.append(run(variant, prefix, wish, quiet=compiles > 1))
    chosen = reports[commonest([signature_of(report) for report in reports], reports)]
    chosen["compiles"] = [_compiled(report) for report in reports]
    text = json.dumps(chosen, indent=1, sort_keys=True).encode() + b"\n"
    kept = report_path(workspace, variant, wish.workload)
    write_whole(kept, text)
    if json_file:
        write_whole(json_file, text)
    if compiles > 1:
        attached([prefix / "bin/python", *PROGRAM, "--show", kept], env=environment(prefix))
        print("\n".join(told(reports)))


def run(variant: Variant, prefix: Path, wish: Wish, *, quiet: bool) -> dict[str, Any]:
    """Run a workload once in an environment and return its report.

    Raises WorkloadError where the program ends with another status than 0.
    """
    with tempfile.TemporaryDirectory(prefix="workload-") as folder:
        place = Path(folder) / "report.json"
        words: list[str | Path] = [prefix / "bin/python", *PROGRAM, *wish.words(), "--json", place]
        words += ["--expect", prefix / settings.EXPECTATION, *(["--quiet"] if quiet else [])]
        sys.stdout.flush()
        status = attached(words, env=environment(prefix))
        if status == 130:
            raise KeyboardInterrupt
        if status != 0:
            error = WorkloadError(
                f"{wish.workload} did not run on {variant.id}",
                found=f"exit status {status}",
                fix="see the program's own message above",
            )
            if status == NO_DEVICE:
                error.exit_code = NO_DEVICE
            raise error
        return read(place)


def read(path: Path) -> dict[str, Any]:
    """Return a workload's report.

    Raises UsageError where the file is missing, cut off, or of another kind or schema.
    """
    try:
        report = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", fix="look at the path") from error
    except ValueError as error:
        raise UsageError(
            f"{path} is not whole JSON: {error}", fix="make the report again: ./invoke profile"
        ) from error
    if not isinstance(report, dict) or "workload" not in report or "cases" not in report:
        raise UsageError(f"{path} is not a workload's report", fix="./invoke profile makes one")
    if report.get("schema") != SCHEMA:
        raise UsageError(
            f"{path} is a report of another schema",
            expected=SCHEMA,
            found=report.get("schema"),
            fix="make the report again: ./invoke profile",
        )
    return report


def find(workspace: Workspace, text: str, workload: str, framework: str | None) -> dict[str, Any]:
    """Return the report that a person means: a file, VARIANT, or FRAMEWORK/VARIANT.

    Raises UsageError where there is none.
    """
    path = Path(text).expanduser()
    if path.suffix == ".json" or path.is_file():
        return read(path)
    first, _, second = text.rpartition("/")
    variant = load_variant(workspace, second, first or framework or None)
    kept = report_path(workspace, variant, workload)
    if not kept.is_file():
        raise UsageError(
            f"{variant.id} has no report of {workload}",
            fix=f"./invoke profile --variant {variant.name} "
            f"--framework {variant.framework.name} --workload {workload}",
        )
    return read(kept)


def signature_of(report: dict[str, Any]) -> tuple[str, ...]:
    """Return the graphs of a report, one for each of its cases."""
    return tuple(case["graph"]["signature"] for case in report["cases"])


def commonest(signatures: Sequence[tuple[str, ...]], reports: Sequence[dict[str, Any]]) -> int:
    """Return the place of the fastest report among those of the graph that came most often."""
    often = Counter(signatures)
    most = max(often.values())
    places = [place for place, found in enumerate(signatures) if often[found] == most]
    return min(places, key=lambda place: _seconds(reports[place]))


def told(reports: Sequence[dict[str, Any]]) -> list[str]:
    """Say which graphs the compilations gave, how often, and how fast each was."""
    often = Counter(signature_of(report) for report in reports)
    kinds = "one graph" if len(often) == 1 else f"{len(often)} different graphs"
    lines = [f"{len(reports)} compilations gave {kinds}:"]
    for signatures, count in often.most_common():
        own = [_seconds(report) for report in reports if signature_of(report) == signatures]
        lines.append(
            f"  {count} of {len(reports)}: {', '.join(signatures)}, "
            f"{1e3 * statistics.median(own):.2f} ms a call"
        )
    return lines


def _seconds(report: dict[str, Any]) -> float:
    return sum(float(statistics.median(case["seconds"])) for case in report["cases"])


def _compiled(report: dict[str, Any]) -> dict[str, Any]:
    return {
        "signatures": list(signature_of(report)),
        "seconds": [statistics.median(case["seconds"]) for case in report["cases"]],
        "compile": [case["compile"]["seconds"] for case in report["cases"]],
    }
