"""All subprocesses are started here, and logged; the signals that end this process.

A supervised program runs only while somebody wants its answer.
"""

from __future__ import annotations

import logging
import os
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

from stacks.core.errors import StacksError

LOGGER = logging.getLogger(__name__)
# How many last lines of a failed program's output its error has.
TAIL = 30
# Of a supervised program: poll interval, and the time in which a stopped one must end. Seconds.
POLL, GRACE = 0.5, 15.0


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


# What ends a process that has no handler: of `kill` and batch systems, and of a closed terminal.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ended_like_by_interrupt() -> Iterator[None]:
    """In the block, let a signal of ENDING raise SystemExit(128 + its number), as a shell has it.

    So `finally` ends what the block has started. A signal that is ignored, as under nohup, stays
    so. To be entered in the main thread.
    """
    before = {number: signal.getsignal(number) for number in ENDING}
    handled = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])


@contextmanager
def put_off() -> Iterator[None]:
    """In the block, put off what interrupts or ends this process to the end of the block.

    For a block that starts a program in a session of its own and keeps its process: if a signal
    comes between the two, nobody can end the program. To be entered in the main thread.
    """
    came: list[int] = []
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, *ENDING)}
    handled = [each for each, handler in before.items() if callable(handler)]
    for each in handled:
        signal.signal(each, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for each in handled:
            signal.signal(each, before[each])
        for number in came:
            signal.raise_signal(number)


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def run_supervised(
    arguments: Sequence[str | Path],
    line: str,
    on_line: Callable[[str], None],
    is_wanted: Callable[[], bool],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str | None:
    """Run a program while it is wanted; return its standard output, None if it was stopped.

    The program reads `line` on standard input. That stays open; when it is closed, also by the end
    of this process, the program must stop. `on_line` gets each line of its standard error, in
    another thread. The program runs in a session of its own, which is killed in the end. Raises
    CommandError as process.call does.
    """
    process = start(
        arguments,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdin and process.stdout and process.stderr
    tail: deque[str] = deque(maxlen=TAIL)
    output: list[str] = []

    def listen(stream: IO[str]) -> None:
        for text in stream:
            tail.append(text.rstrip())
            on_line(tail[-1])

    threads = [
        threading.Thread(target=listen, args=(process.stderr,), daemon=True),
        threading.Thread(target=output.extend, args=(process.stdout,), daemon=True),
    ]
    for thread in threads:
        thread.start()
    stopped = False
    try:
        # A program that ended at once does not read it; its status says why.
        with suppress(BrokenPipeError):
            process.stdin.write(line + "\n")
            process.stdin.flush()
        while process.poll() is None and not stopped:
            try:
                process.wait(POLL)
            except subprocess.TimeoutExpired:
                stopped = not is_wanted()
        if stopped:
            _close(process)
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
        raise failed(arguments, "\n".join(tail), (0,), process.returncode)
    return "".join(output)


def _close(process: subprocess.Popen[str]) -> None:
    """Close a program's standard input and give it time to end."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
