"""Run workloads in environments; store and read their reports."""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.core import jsonfile
from stacks.core.console import beating
from stacks.core.disk import scratch, write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.paths import expanded, is_file
from stacks.core.workspace import Workspace
from stacks.environments.folders import workload_reports
from stacks.environments.make import settings
from stacks.environments.programs import INTERRUPTED, NO_DEVICE, environment, run_suite
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from verify.workloads.rounds import PROGRAMS

PROGRAM = "workload"
SCHEMA = 2


class WorkloadError(StacksError):
    """A workload failed."""


@dataclass(frozen=True)
class WorkloadOptions:
    """A workload and its options; empty or zero stands for the program's default."""

    workload: str
    calls: int = 0
    case: str = ""
    linker: str = ""
    small: bool = False
    fix_scan: bool = False

    def arguments(self) -> list[str]:
        """Return the program's arguments."""
        options = {"calls": self.calls, "case": self.case, "linker": self.linker}
        switches = {"--fix-scan": self.fix_scan, "--small": self.small}
        return [
            self.workload,
            *(
                word
                for name, value in options.items()
                if value
                for word in (f"--{name}", f"{value}")
            ),
            *(name for name, is_on in switches.items() if is_on),
        ]


def report_path(workspace: Workspace, variant: Variant, workload: str) -> Path:
    """Return the path of the last report of a workload on a variant."""
    return workload_reports(workspace, variant) / f"{workload}.json"


def check_workload(name: str) -> None:
    """Raise UsageError unless this is the name of a workload."""
    if name not in PROGRAMS:
        raise UsageError(
            f"no workload {name or 'is named'}",
            expected=", ".join(PROGRAMS),
            fix="./invoke profile --variant NAME --workload ntm",
        )


def profile(
    workspace: Workspace,
    variant: Variant,
    prefix: Path,
    options: WorkloadOptions,
    *,
    compiles: int = 1,
    json_file: Path | None = None,
) -> None:
    """Run a workload, print its tables, store its report.

    compiles: the number of processes that compile and run it. The stored report is the fastest of
    those with the most frequent graph; it counts all graphs.

    Raises UsageError for an unknown workload or case, WorkloadError if it fails.
    """
    check_workload(options.workload)
    if compiles < 1:
        raise UsageError("nothing to compile", expected="--compiles 1 or more")
    reports = []
    for number in range(compiles):
        if compiles > 1:
            print(f"compile {number + 1} of {compiles} ...", file=sys.stderr, flush=True)
        reports.append(run(variant, prefix, options, quiet=compiles > 1))
    chosen, lines = fastest_of_commonest(reports)
    chosen["compiles"] = [
        {
            "signatures": list(_signatures(report)),
            "seconds": [statistics.median(case["seconds"]) for case in report["cases"]],
            "compile": [case["compile"]["seconds"] for case in report["cases"]],
        }
        for report in reports
    ]
    text = json.dumps(chosen, indent=1, sort_keys=True).encode() + b"\n"
    path = report_path(workspace, variant, options.workload)
    write_atomically(path, text)
    if json_file:
        write_atomically(json_file, text)
    if compiles > 1:
        run_suite(prefix / "bin/python", [PROGRAM, "--show", path], environment(prefix))
        print("\n".join(lines))


def run(variant: Variant, prefix: Path, options: WorkloadOptions, *, quiet: bool) -> dict[str, Any]:
    """Run a workload once in an environment and return its report.

    Raises WorkloadError if the program's exit status is not 0.
    """
    with scratch() as folder:
        path = folder / "report.json"
        arguments: list[str | Path] = [PROGRAM, *options.arguments()]
        arguments += ["--json", path, "--expect", prefix / settings.EXPECTATION]
        arguments += ["--quiet"] if quiet else []
        # A framework leaves what it compiles there when it is interrupted.
        env = environment(prefix) | {"TMPDIR": str(folder)}
        with beating(lambda: f"{options.workload} on {variant.id}", sys.stderr):
            status = run_suite(prefix / "bin/python", arguments, env)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        if status != 0:
            error = WorkloadError(
                f"{options.workload} failed on {variant.id}",
                found=f"exit status {status}",
                fix="see the program's own message above",
            )
            if status == NO_DEVICE:
                error.exit_code = NO_DEVICE
            raise error
        return read_report(path)


def read_report(path: Path) -> dict[str, Any]:
    """Return a workload's report.

    Raises UsageError if the file is missing, truncated, or of another kind or schema.
    """
    try:
        report = jsonfile.read(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", fix="check the path") from error
    except ValueError as error:
        raise UsageError(
            f"{path} is not valid JSON: {error}", fix="make the report again: ./invoke profile"
        ) from error
    if not isinstance(report, dict) or "workload" not in report or "cases" not in report:
        raise UsageError(f"{path} is not a workload's report", fix="./invoke profile makes one")
    if report.get("schema") != SCHEMA:
        raise UsageError(
            f"{path} has another version of the report's schema",
            expected=SCHEMA,
            found=report.get("schema"),
            fix="make the report again: ./invoke profile",
        )
    return report


def find_report(
    workspace: Workspace, text: str, workload: str, framework: str | None
) -> dict[str, Any]:
    """Return the report named by `text`: a file, VARIANT, or FRAMEWORK/VARIANT.

    Raises UsageError if there is none.
    """
    path = expanded(text)
    if path.suffix != ".json" and not is_file(path):
        variant = load_variant(workspace, text, framework or None)
        path = report_path(workspace, variant, workload)
        if not path.is_file():
            raise UsageError(
                f"{variant.id} has no report of {workload}",
                fix=f"./invoke profile {variant.option} --workload {workload}",
            )
    return read_report(path)


def fastest_of_commonest(reports: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """Return the fastest report of the most frequent graph, and lines about all graphs.

    The lines say how often each graph occurred, and how fast it is.
    """
    counts = Counter(map(_signatures, reports))
    kinds = "one graph" if len(counts) == 1 else f"{len(counts)} different graphs"
    lines = [f"{len(reports)} compilations gave {kinds}:"]
    for signatures, count in counts.most_common():
        seconds = [_seconds(report) for report in reports if _signatures(report) == signatures]
        lines.append(
            f"  {count} of {len(reports)}: {', '.join(signatures)}, "
            f"{1e3 * statistics.median(seconds):.2f} ms a call"
        )
    most = max(counts.values())
    return min((r for r in reports if counts[_signatures(r)] == most), key=_seconds), lines


def _signatures(report: dict[str, Any]) -> tuple[str, ...]:
    """Return the signatures of a report's graphs, one for each case."""
    return tuple(case["graph"]["signature"] for case in report["cases"])


def _seconds(report: dict[str, Any]) -> float:
    return sum(float(statistics.median(case["seconds"])) for case in report["cases"])
