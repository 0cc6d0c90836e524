"""A user's program in an environment, with the suite's hook in each Python that it starts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.core import jsonfile
from stacks.core.disk import scratch, write_atomically
from stacks.core.errors import StacksError
from stacks.core.process import call, run_attached
from stacks.core.workspace import Workspace
from stacks.environments.folders import workload_reports
from stacks.environments.programs import SUITE
from stacks.environments.use import run as runs
from stacks.profiles.run import PROGRAM
from stacks.variants.variant import Variant

HOOK = SUITE / "program_hook"
FOLDER_VARIABLE = "THEANO_STACKS_PROFILE"
SCHEMA = 1


class ProgramError(StacksError):
    """A user's program failed; `exit_code` is its status."""


def hook_variables(env: Mapping[str, str], variable: str, folder: Path) -> dict[str, str]:
    """Return variables by which each Python of a program imports the suite's hook at its start.

    variable: names what the hook reports. folder: where each process that compiles functions
    writes a report.
    """
    path = os.pathsep.join([str(HOOK), *filter(None, [env.get("PYTHONPATH")])])
    return {**env, "PYTHONPATH": path, variable: str(folder)}


def profiling_variables(
    variant: Variant, env: Mapping[str, str], folder: Path, *, memory: bool
) -> dict[str, str]:
    """Return variables that turn the framework's profile on, after the user's flags."""
    name = variant.framework.flags_variable
    switches = ["profile=True", *(["profile_memory=True"] if memory else [])]
    flags = ",".join([*filter(None, [env.get(name)]), *switches])
    return hook_variables(env, FOLDER_VARIABLE, folder) | {name: flags}


def read_processes(folder: Path) -> list[dict[str, Any]]:
    """Return the reports of a program's processes, in the order of their ids."""
    paths = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    return [{**jsonfile.read(path), "process": int(path.stem)} for path in paths]


def profile(
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
    with scratch() as folder:
        env = runs.variables(prefix)
        status = run_attached(command, env=profiling_variables(variant, env, folder, memory=memory))
        content = {
            "schema": SCHEMA,
            "variant": variant.id,
            "command": list(command),
            "status": status,
            "processes": read_processes(folder),
        }
        text = json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"
        path = folder / "report"
        write_atomically(path, text)
        if content["processes"]:
            words: list[str | Path] = [prefix / "bin/python", SUITE, PROGRAM, "--show", path]
            print(call(words, env=env), end="", file=sys.stderr, flush=True)
            if json_file:
                write_atomically(json_file, text)
    if status:
        raise failure(variant, command, status)
    if not content["processes"]:
        raise ProgramError(
            f"{command[0]} has no profile",
            expected=f"a program that compiles functions with {variant.framework.module}",
            found="no function was compiled, or its processes were killed",
        )
    write_atomically(workload_reports(workspace, variant) / "program.json", text)


def failure(variant: Variant, command: Sequence[str], status: int) -> ProgramError:
    """Return the error for a program's exit status; a negative one is a signal's."""
    found = f"exit status {status}" if status > 0 else f"killed by signal {-status}"
    error = ProgramError(f"{command[0]} failed on {variant.id}", found=found)
    error.exit_code = status if status > 0 else 128 - status
    return error
