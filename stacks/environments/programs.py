"""Programs of an environment: their variables; running the verification suite, what it says."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

from stacks.core import records
from stacks.core.disk import REPOSITORY
from stacks.core.errors import VerifyError
from stacks.core.process import run_attached
from verify.core import surroundings

SUITE = REPOSITORY / "verify"
# The builder's own: PYTHONPATH and PYTHONHOME are meant for the environment's Python.
OWN_PYTHON = (sys.executable, "-I")
# Leaves out the packages of the user's home.
USER_SITE = "PYTHONNOUSERSITE"
# Python shows where they came.
CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
PASSED, FAILED, CANNOT_RUN, NO_DEVICE, INTERRUPTED = 0, 1, 2, 3, 130


def environment(prefix: Path) -> dict[str, str]:
    """Return the environment variables for a program of an environment.

    Without those that are meant for another one: see verify/core/surroundings.py.
    """
    return {
        **surroundings.program(os.environ),
        "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        **own_variables(prefix),
    }


def own_variables(prefix: Path) -> dict[str, str]:
    """Return the environment variables, beside PATH, that name an environment to programs."""
    return {"CONDA_PREFIX": str(prefix), USER_SITE: "1"}


def run_suite(
    python: str | Path | tuple[str, ...],
    arguments: Sequence[str | Path],
    env: Mapping[str, str],
    output: IO[bytes] | None = None,
) -> int:
    """Run a program of the suite on the user's own terminal and return its exit status.

    python: an interpreter, or one and its options. output: the file for its standard output, if not
    the terminal. Raises CommandError if Python cannot be started.
    """
    sys.stdout.flush()
    env = ending_with_this_process(env)
    # The suite would end at a prompt, or print thousands of lines.
    for name in ("PYTHONINSPECT", "LD_DEBUG"):
        env.pop(name, None)
    # A Python that is interrupted before it runs any program prints a traceback.
    interruptible = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if interruptible:
        env["THEANO_STACKS_INTERRUPT"] = "1"
    words = [*(python if isinstance(python, tuple) else [python]), SUITE, *arguments]
    return run_attached(words, env=env, output=output, ignores_interrupt=interruptible)


def ending_with_this_process(env: Mapping[str, str]) -> dict[str, str]:
    """Return variables by which a program of the suite ends when this process is killed."""
    return {**env, "THEANO_STACKS_PARENT": str(os.getpid())}


def check_report(status: int, report: Path, what: str, fix: str) -> None:
    """Raise VerifyError `what` unless a report agrees with PASSED, FAILED or NO_DEVICE.

    fix: of a program that is not the suite.
    """
    try:
        content = records.read_json(report)
        statuses = {check["status"] for check in content["checks"]}
        ok = content["ok"]
    except (OSError, ValueError, KeyError, TypeError):
        statuses, ok = set(), None
    is_valid = statuses and ok is ("fail" not in statuses)
    if is_valid and ok is (status != FAILED):
        return
    found = f"a report {'without failures' if ok else 'of a failure'}" if is_valid else "no report"
    error = VerifyError(
        what,
        expected="a report that agrees with the exit status",
        found=f"exit status {status} and {found}",
        fix=fix,
    )
    if status == FAILED:
        # A step, or its end, has hung or crashed: the suite's supervisor has printed which.
        error = VerifyError(what, fix="see the suite's own message above")
    error.exit_code = FAILED if status == FAILED else CANNOT_RUN
    raise error


def raise_for(status: int, what: str) -> NoReturn:
    """Raise the VerifyError for a status of the suite, KeyboardInterrupt for an interrupt."""
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    fixes = {
        FAILED: "the table above has a fix for each check that failed",
        NO_DEVICE: "the line `device` above has the fix",
    }
    error = VerifyError(what, fix=fixes.get(status, "see the suite's own message above"))
    if status < 0:
        # Before it was supervised: by a library that Python itself loads, for one.
        shows = error.fix if -status in CRASHES else "run it again"
        error = VerifyError(what, found=f"signal {-status} has ended it", fix=shows)
    error.exit_code = status if status in fixes else CANNOT_RUN
    raise error
