"""The one door to subprocesses."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from stacks.errors import StacksError


class CommandError(StacksError):
    """A program ended with a non-zero status; its own output is in the message."""


def call(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    accepted: Collection[int] = (0,),
) -> str:
    """Run a program to its end and return what it printed on standard output.

    Raises CommandError with the command line and the tail of both its streams where the program
    is missing or exits with a status that is not accepted.
    """
    words = [str(a) for a in arguments]
    try:
        done = subprocess.run(
            words, cwd=cwd, env=env, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise CommandError(
            f"cannot run {words[0]}: {error.strerror}", mend=f"the whole command: {quoted(words)}"
        ) from error
    if done.returncode not in accepted:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-30:])
        raise CommandError(
            f"{quoted(words)}\n{tail}",
            expected="exit status " + " or ".join(map(str, accepted)),
            found=f"exit status {done.returncode}",
        )
    return done.stdout


def attached(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> int:
    """Run a program on the user's own terminal and return its exit status.

    Raises CommandError where the program cannot be started.
    """
    words = [str(a) for a in arguments]
    try:
        return subprocess.run(words, cwd=cwd, env=env, check=False).returncode
    except OSError as error:
        raise CommandError(
            f"cannot run {words[0]}: {error.strerror}",
            mend="look at the spelling of its path or name",
        ) from error


def quoted(arguments: Sequence[str | Path]) -> str:
    """Return a command line as a person would type it."""
    return shlex.join(str(a) for a in arguments)
