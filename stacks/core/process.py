"""The one door to subprocesses."""

from __future__ import annotations

import logging
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from stacks.core.errors import StacksError

LOGGER = logging.getLogger(__name__)
# How many of a failed program's last lines are told.
TAIL = 30
# How often it is asked whether a program is still wanted, and how long it has to end by itself.
ASK, GRACE = 0.5, 15.0


class CommandError(StacksError):
    """A program ended with a non-zero status; its own output is in the message."""


def call(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    accepted: Collection[int] = (0,),
    limit: float | None = None,
) -> str:
    """Run a program to its end and return what it printed on standard output.

    Raises CommandError with the command line and the tail of both its streams where the program
    is missing, exits with a status that is not accepted, or has not ended after `limit` seconds.
    """
    words = _logged(arguments)
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=limit,
        )
    except OSError as error:
        raise cannot_run(words, error) from error
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            quoted(words), expected=f"an end within {limit:g} s", found="none: it was stopped"
        ) from error
    if done.returncode not in accepted:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-TAIL:])
        raise _failed(words, tail, accepted, done.returncode)
    return done.stdout


def run_streaming(
    arguments: Sequence[str | Path],
    tell: Callable[[str], None],
    *,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run a program to its end and give `tell` each line of both its streams as it comes.

    Where this is interrupted, by ctrl-C above all, the program is stopped first. Raises
    CommandError as `call` does.
    """
    words = _logged(arguments)
    try:
        process = subprocess.Popen(
            words,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise cannot_run(words, error) from error
    tail: deque[str] = deque(maxlen=TAIL)
    with process:
        assert process.stdout
        try:
            for line in process.stdout:
                tail.append(line.rstrip())
                tell(tail[-1])
            process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode:
        raise _failed(words, "\n".join(tail), (0,), process.returncode)


@contextmanager
def run_piped(
    arguments: Sequence[str | Path], *, env: Mapping[str, str] | None = None
) -> Iterator[IO[bytes]]:
    """Give the bytes that a program writes on standard output, while it runs.

    Raises CommandError as `call` does, also where the block stumbled over what was cut short.
    """
    words = _logged(arguments)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=errors)
        except OSError as error:
            raise cannot_run(words, error) from error
        stumbled: Exception | None = None
        with process:
            assert process.stdout
            try:
                yield process.stdout
            except Exception as error:
                stumbled = error
            except BaseException:
                process.terminate()
                process.wait()
                raise
            process.stdout.close()
            status = process.wait()
        # A negative status is the broken pipe, where the block left before the end.
        if status > 0:
            errors.seek(0)
            tail = errors.read().decode(errors="replace").strip()
            raise _failed(words, tail, (0,), status) from stumbled
        if stumbled:
            raise stumbled


def run_attached(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    output: IO[bytes] | None = None,
) -> int:
    """Run a program on the user's own terminal and return its exit status.

    What it prints on standard output goes to the file `output`, where that is given.

    Raises CommandError where the program cannot be started.
    """
    words = _logged(arguments)
    try:
        return subprocess.run(words, cwd=cwd, env=env, stdout=output, check=False).returncode
    except OSError as error:
        raise cannot_run(words, error, "look at the spelling of its path or name") from error


def run_supervised(
    arguments: Sequence[str | Path],
    given: str,
    tell: Callable[[str], None],
    wanted: Callable[[], bool],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str | None:
    """Run a program as long as it is wanted; return what it printed, None where it was stopped.

    It gets the line `given` on standard input, which then stays open: its end says that the
    program is to stop, also where this process was killed. `tell` gets each line of its standard
    error, from a thread of its own. It has a session of its own; what is left of that in the end
    is killed. Raises CommandError as `call` does.
    """
    words = _logged(arguments)
    try:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise cannot_run(words, error) from error
    assert process.stdin and process.stdout and process.stderr
    tail: deque[str] = deque(maxlen=TAIL)
    printed: list[str] = []

    def listen(stream: IO[str]) -> None:
        for line in stream:
            tail.append(line.rstrip())
            tell(tail[-1])

    threads = [
        threading.Thread(target=listen, args=(process.stderr,), daemon=True),
        threading.Thread(target=printed.extend, args=(process.stdout,), daemon=True),
    ]
    for thread in threads:
        thread.start()
    stopped = False
    try:
        # A program that ended at once does not read; its status says why.
        with suppress(BrokenPipeError):
            process.stdin.write(given + "\n")
            process.stdin.flush()
        while process.poll() is None and not stopped:
            try:
                process.wait(ASK)
            except subprocess.TimeoutExpired:
                stopped = not wanted()
        if stopped:
            _end(process)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for thread in threads:
            thread.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()
    if stopped:
        return None
    if process.returncode:
        raise _failed(words, "\n".join(tail), (0,), process.returncode)
    return "".join(printed)


def _end(process: subprocess.Popen[str]) -> None:
    """Have a program end by itself, if it does so in time."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)


def _logged(arguments: Sequence[str | Path]) -> list[str]:
    """Return a command line's words, and log it."""
    LOGGER.info("+ %s", quoted(arguments))
    return [str(argument) for argument in arguments]


def cannot_run(words: Sequence[str], error: OSError, fix: str = "") -> CommandError:
    """Return the error of a program that could not be started."""
    return CommandError(
        f"cannot run {words[0]}: {error.strerror}",
        fix=fix or f"the whole command: {quoted(words)}",
    )


def _failed(
    words: Sequence[str], tail: str, accepted: Collection[int], status: int
) -> CommandError:
    return CommandError(
        f"{quoted(words)}\n{tail}",
        expected="exit status " + " or ".join(map(str, accepted)),
        found=f"exit status {status}",
    )


def quoted(arguments: Sequence[str | Path]) -> str:
    """Return a command line as a person would type it."""
    return shlex.join(str(a) for a in arguments)
