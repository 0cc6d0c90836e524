"""All subprocesses are started here, and logged."""

from __future__ import annotations

import logging
import shlex
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from stacks.core.errors import StacksError

LOGGER = logging.getLogger(__name__)
# How many last lines of a failed program's output its error has.
TAIL = 30


class CommandError(StacksError):
    """A program failed; the message has the end of its output."""

    @property
    def output(self) -> str:
        """The end of the program's output, empty if there is none."""
        return self.what.partition("\n")[2]

    @property
    def last_line(self) -> str:
        """The last line of the program's output; without one, how it ended."""
        return (self.output.strip() or str(self.found or self.what)).splitlines()[-1]


def call(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    accepted: Collection[int] = (0,),
    limit: float | None = None,
    merged: bool = False,
) -> str:
    """Run a program to its end and return what it printed on standard output.

    merged: whether to return what it printed on standard error with it. limit: seconds after which
    it is stopped. Raises CommandError, with the end of its output, if the program is missing, exits
    with a status that is not accepted, or reaches the limit.
    """
    words = _logged(arguments)
    try:
        result = subprocess.run(
            words,
            cwd=cwd,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
            timeout=limit,
        )
    except OSError as error:
        raise cannot_run(words, error) from error
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            quoted(words),
            expected=f"an end within {limit:g} s",
            found="it still ran, and was stopped",
        ) from error
    if result.returncode not in accepted:
        tail = "\n".join((result.stdout + (result.stderr or "")).strip().splitlines()[-TAIL:])
        raise failed(words, tail, accepted, result.returncode)
    return result.stdout


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_attached(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    output: IO[bytes] | None = None,
    ignores_interrupt: bool = False,
) -> int:
    """Run a program on the user's own terminal and return its exit status.

    output: the file for its standard output, if not the terminal. ignores_interrupt: start it with
    ctrl-C ignored; it is killed soon after one that it still ignores. Raises CommandError if the
    program cannot be started.
    """
    words = _logged(arguments)
    try:
        return subprocess.run(
            words,
            cwd=cwd,
            env=env,
            stdout=output,
            check=False,
            preexec_fn=_ignore_interrupt if ignores_interrupt else None,
        ).returncode
    except OSError as error:
        raise cannot_run(words, error, "check the spelling of its path or name") from error


def start_in_session(
    arguments: Sequence[str | Path], output: IO[bytes], env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, without input; both its outputs go to the file.

    Its caller ends it. Raises CommandError if it cannot be started.
    """
    return start(
        arguments,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _logged(arguments: Sequence[str | Path]) -> list[str]:
    """Return a command line's words, and log it."""
    LOGGER.info("+ %s", quoted(arguments))
    return [str(argument) for argument in arguments]


def start(arguments: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """Start a program, with the options of Popen; raise CommandError if that cannot be done."""
    words = _logged(arguments)
    try:
        return subprocess.Popen(words, **options)
    except OSError as error:
        raise cannot_run(words, error) from error


def cannot_run(words: Sequence[str], error: OSError, fix: str = "") -> CommandError:
    """Return the error for a program that could not be started."""
    return CommandError(
        f"cannot run {words[0]}: {error.strerror}", fix=fix or f"the whole command: {quoted(words)}"
    )


def failed(
    words: Sequence[str | Path], tail: str, accepted: Collection[int], status: int
) -> CommandError:
    """Return the error for a program that ended with a status that is not accepted."""
    return CommandError(
        f"{quoted(words)}\n{tail}",
        expected="exit status " + " or ".join(map(str, accepted)),
        found=f"exit status {status}",
    )


def quoted(arguments: Sequence[str | Path]) -> str:
    """Return a command line, quoted for a shell."""
    return shlex.join(str(a) for a in arguments)
