"""Profile a workload or a user's program in an environment; store and read workloads' reports."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.core import records
from stacks.core.disk import tmp_folder, write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.paths import expanded, is_file
from stacks.core.process import call, run_attached
from stacks.core.workspace import Workspace
from stacks.environments.folders import workload_reports
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import INTERRUPTED, SUITE, environment, run_suite
from stacks.environments.use import run as runs
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from verify.workloads.rounds import PROGRAMS

PROGRAM = "workload"
# Of the reports of a workload, and of a user's program.
SCHEMA, PROGRAM_SCHEMA = 2, 1
HOOK = SUITE / "program_hook"
FOLDER_VARIABLE = "THEANO_STACKS_PROFILE"


class ProgramError(StacksError):
    """A program failed; `exit_code` is its status."""


def check_workload(name: str) -> None:
    """Raise UsageError unless this is the name of a workload."""
    if name not in PROGRAMS:
        raise UsageError(
            f"no workload {name}",
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

    words: the workload and its program's options. Raises ProgramError if it fails.
    """
    with tmp_folder() as folder:
        path = folder / "report.json"
        arguments: list[str | Path] = [PROGRAM, *words, "--json", path]
        arguments += ["--expect", prefix / EXPECTATION]
        # A framework leaves what it compiles there when it is interrupted.
        env = environment(prefix) | {"TMPDIR": str(folder)}
        status = run_suite(prefix / "bin/python", arguments, env)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        if status:
            raise failure(variant, words, status)
        text = _text(read_report(path))
    write_atomically(_report_path(workspace, variant, words[0]), text)
    if json_file:
        write_atomically(json_file, text)


def profile_program(
    workspace: Workspace,
    variant: Variant,
    prefix: Path,
    command: Sequence[str],
    *,
    memory: bool = False,
    json_file: Path | None = None,
) -> None:
    """Run a program with the framework's profile on; print its tables, store its report.

    The tables go to standard error, because standard output is the program's own. The report of a
    failed program is printed and written to json_file, but not stored.

    Raises ProgramError if the program fails or compiles nothing, CommandError if it cannot start.
    """
    runs.warn(variant, prefix)
    with tmp_folder() as folder:
        env = runs.variables(variant, prefix)
        status = run_attached(command, env=profiling_variables(variant, env, folder, memory=memory))
        processes = read_processes(folder)
        content = {"schema": PROGRAM_SCHEMA, "variant": variant.id, "command": list(command)}
        text = _text({**content, "status": status, "processes": processes})
        path = folder / "report"
        write_atomically(path, text)
        if processes:
            words: list[str | Path] = [prefix / "bin/python", SUITE, PROGRAM, "--show", path]
            print(call(words, env=env), end="", file=sys.stderr, flush=True)
            if json_file:
                write_atomically(json_file, text)
    if status:
        raise failure(variant, command, status)
    if not processes:
        raise ProgramError(
            f"{command[0]} has no profile",
            expected=f"a program that compiles functions with {variant.framework.module}",
            found="no function was compiled, or its processes were killed",
        )
    write_atomically(_report_path(workspace, variant, "program"), text)


def profiling_variables(
    variant: Variant, env: Mapping[str, str], folder: Path, *, memory: bool
) -> dict[str, str]:
    """Return variables that turn the framework's profile on, after the user's flags."""
    name = variant.framework.flags_variable
    switches = ["profile=True", *(["profile_memory=True"] if memory else [])]
    flags = ",".join([*filter(None, [env.get(name)]), *switches])
    return hook_variables(env, FOLDER_VARIABLE, folder) | {name: flags}


def hook_variables(env: Mapping[str, str], variable: str, folder: Path) -> dict[str, str]:
    """Return variables by which each Python of a program imports the suite's hook at its start.

    variable: names what the hook reports. folder: where each process that compiles functions
    writes a report.
    """
    path = os.pathsep.join([str(HOOK), *filter(None, [env.get("PYTHONPATH")])])
    return {**env, "PYTHONPATH": path, variable: str(folder)}


def read_processes(folder: Path) -> list[dict[str, Any]]:
    """Return the reports of a program's processes, in the order of their ids."""
    paths = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    return [{**records.read_json(path), "process": int(path.stem)} for path in paths]


def failure(variant: Variant, command: Sequence[str], status: int) -> ProgramError:
    """Return the error for a program's exit status; a negative one is a signal's."""
    found = f"exit status {status}" if status > 0 else f"killed by signal {-status}"
    fix = "see the program's own message above"
    error = ProgramError(f"{command[0]} failed on {variant.id}", found=found, fix=fix)
    error.exit_code = status if status > 0 else 128 - status
    return error


def _text(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"


def _report_path(workspace: Workspace, variant: Variant, workload: str) -> Path:
    """Return the path of the last report of a workload on a variant."""
    return workload_reports(workspace, variant) / f"{workload}.json"


def read_report(path: Path) -> dict[str, Any]:
    """Return a workload's report.

    Raises UsageError if the file is missing, truncated, or of another kind or schema.
    """
    try:
        report = records.read_json(path)
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
        path = _report_path(workspace, variant, workload)
        if not path.is_file():
            raise UsageError(
                f"{variant.id} has no report of {workload}",
                fix=f"./invoke profile {variant.option} --workload {workload}",
            )
    return read_report(path)
