"""Running the verification suite on an interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from stacks.core.disk import REPOSITORY, replace_atomically, write_atomically
from stacks.core.errors import UsageError, VerifyError
from stacks.core.process import CommandError, run_attached
from stacks.core.workspace import Workspace
from stacks.environments import settings
from stacks.environments.reports import report_path
from stacks.variants.variant import Variant

SUITE = REPOSITORY / "verify"
PASSED, FAILED, CANNOT_RUN, NO_DEVICE, INTERRUPTED = 0, 1, 2, 3, 130


def verify_variant(
    workspace: Workspace,
    variant: Variant,
    prefix: Path,
    *,
    full: bool = False,
    json_file: Path | None = None,
    limit: int = 0,
) -> None:
    """Verify a variant's environment, print the table, and keep the report.

    limit: seconds after which a step counts as hanging; 0 is the suite's default. Raises
    VerifyError if a check failed or the suite could not run.
    """
    with replace_atomically(report_path(workspace, variant)) as report:
        arguments = ["--expect", str(prefix / settings.EXPECTATION), "--json", str(report)]
        arguments += _options(full, limit)
        status = _run(prefix / "bin/python", arguments, environment(prefix))
        if status not in (PASSED, FAILED, NO_DEVICE) or not report.is_file():
            raise_for(status, f"{variant.id} could not be verified")
    if json_file:
        write_atomically(json_file, report_path(workspace, variant).read_bytes())
    if status == FAILED:
        raise VerifyError(
            f"{variant.id} failed its verification",
            fix="the table above has a fix for each check that failed",
        )
    if status == NO_DEVICE:
        raise_for(status, f"{variant.id} is verified but for its device")


def verify_python(
    python: str, *, full: bool = False, json_file: Path | None = None, limit: int = 0
) -> None:
    """Diagnose any interpreter that has Theano or a descendant; nothing is installed.

    limit: as for verify_variant. Raises UsageError if there is no such interpreter, VerifyError if
    a check failed or the device is missing.
    """
    path = Path(python).expanduser()
    if path.is_dir():
        raise UsageError(
            f"{python} is a folder", fix=f"give the interpreter: {path / 'bin' / 'python'}"
        )
    arguments = ["--json", str(json_file)] if json_file else []
    command = path if "/" in python else Path(python)
    # No file may be written into another environment, not even compiled modules.
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        status = _run(command, [*arguments, *_options(full, limit)], env)
    except CommandError as error:
        raise UsageError(error.what, fix=error.fix) from error
    if status != PASSED:
        raise_for(status, f"{python} did not pass")


def environment(prefix: Path) -> dict[str, str]:
    """Return the environment variables for a program of an environment."""
    return {
        **os.environ,
        "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "CONDA_PREFIX": str(prefix),
        "PYTHONNOUSERSITE": "1",
    }


def _options(full: bool, limit: int) -> list[str]:
    return [*(["--full"] if full else []), *(["--limit", str(limit)] if limit else [])]


def _run(python: Path, arguments: list[str], env: Mapping[str, str]) -> int:
    sys.stdout.flush()
    return run_attached([python, SUITE, *arguments], env=env)


def raise_for(status: int, what: str) -> NoReturn:
    """Raise the VerifyError for a status of the suite, KeyboardInterrupt for an interrupt."""
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    if status == FAILED:
        raise VerifyError(what, fix="the table above has a fix for each check that failed")
    if status == NO_DEVICE:
        error = VerifyError(what, fix="the line `device` above has the fix")
        error.exit_code = NO_DEVICE
        raise error
    error = VerifyError(what, fix="see the suite's own message above")
    error.exit_code = CANNOT_RUN
    raise error
