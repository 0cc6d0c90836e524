"""Profile a person's own program in an environment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stacks.core import jsonfile
from stacks.core.disk import scratch, write_atomically
from stacks.core.errors import StacksError
from stacks.core.process import call, run_attached
from stacks.core.workspace import Workspace
from stacks.environments import run as runs
from stacks.environments.reports import workload_reports
from stacks.environments.verify import SUITE
from stacks.profiles.run import PROGRAM
from stacks.variants.variant import Variant

HOOK = SUITE / "program_hook"
FOLDER_VARIABLE = "THEANO_STACKS_PROFILE"
SCHEMA = 1


class ProgramError(StacksError):
    """A person's own program failed; `exit_code` is its status."""


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
        env = profiling_environment(variant, runs.variables(prefix), folder, memory=memory)
        status = run_attached(command, env=env)
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
            tables = call(
                [prefix / "bin/python", SUITE, PROGRAM, "--show", path], env=runs.variables(prefix)
            )
            print(tables, end="", file=sys.stderr, flush=True)
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


def profiling_environment(
    variant: Variant, env: dict[str, str], folder: Path, *, memory: bool
) -> dict[str, str]:
    """Return variables that turn the profile on in every Python that the program starts.

    folder: where each of its processes writes a report.
    """
    flags = variant.framework.flags_variable
    switches = ["profile=True", *(["profile_memory=True"] if memory else [])]
    return {
        **env,
        flags: ",".join([*filter(None, [env.get(flags)]), *switches]),
        "PYTHONPATH": os.pathsep.join([str(HOOK), *filter(None, [env.get("PYTHONPATH")])]),
        FOLDER_VARIABLE: str(folder),
    }


def read_processes(folder: Path) -> list[dict[str, Any]]:
    """Return the reports of a program's processes, in the order of their ids."""
    paths = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    return [{**jsonfile.read(path), "process": int(path.stem)} for path in paths]


def failure(variant: Variant, command: Sequence[str], status: int) -> ProgramError:
    """Return the error for a program's exit status; a negative one is a signal's."""
    found = f"exit status {status}" if status > 0 else f"killed by signal {-status}"
    error = ProgramError(f"{command[0]} failed on {variant.id}", found=found)
    error.exit_code = status if status > 0 else 128 - status
    return error
