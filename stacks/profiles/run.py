"""Run workloads in environments; store and read their reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
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


def workload_words(workload: str, **options: int | str | bool) -> list[str]:
    """Return the program's arguments; 0, "" and False stand for the program's default."""
    words = [workload]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if value is True else [option, f"{value}"] if value else []
    return words


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
    words: Sequence[str],
    json_file: Path | None = None,
) -> None:
    """Run a workload, print its tables, store its report.

    words: the workload and its options. Raises StacksError if it fails, also for an unknown case.
    """
    with scratch() as folder:
        path = folder / "report.json"
        arguments: list[str | Path] = [PROGRAM, *words]
        arguments += ["--json", path, "--expect", prefix / settings.EXPECTATION]
        # A framework leaves what it compiles there when it is interrupted.
        env = environment(prefix) | {"TMPDIR": str(folder)}
        with beating(lambda: f"{words[0]} on {variant.id}", sys.stderr):
            status = run_suite(prefix / "bin/python", arguments, env)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        if status != 0:
            error = StacksError(
                f"{words[0]} failed on {variant.id}",
                found=f"exit status {status}",
                fix="see the program's own message above",
            )
            if status == NO_DEVICE:
                error.exit_code = NO_DEVICE
            raise error
        text = json.dumps(read_report(path), indent=1, sort_keys=True).encode() + b"\n"
    write_atomically(report_path(workspace, variant, words[0]), text)
    if json_file:
        write_atomically(json_file, text)


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
