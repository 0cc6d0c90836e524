"""All subprocesses are started here, and logged; the signals that end this process."""

import logging
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

from stacks.core.errors import StacksError

LOGGER = logging.getLogger(__name__)
# How many last lines of a failed program's output its error has.
TAIL = 30
# Of a program that runs when this one is interrupted: in the first it ends by itself, in the second
# after an interrupt. Seconds.
ENDS = (0.6, 30.0)


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
    options: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT if merged else subprocess.PIPE,
        "text": True,
        "errors": "replace",
    }
    with _running(arguments, cwd=cwd, env=env, **options) as process:
        try:
            output, more = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise CommandError(
                quoted(arguments),
                expected=f"an end within {limit:g} s",
                found="it still ran, and was stopped",
            ) from error
    if process.returncode not in accepted:
        tail = "\n".join((output + (more or "")).strip().splitlines()[-TAIL:])
        raise failed(arguments, tail, accepted, process.returncode)
    return str(output)


@contextmanager
def _running(arguments: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a program for the block, as `start` does; it ends with the block.

    If something interrupts or ends this process, it has ENDS seconds to remove what it has half
    made.
    """
    with ExitStack() as stack:
        # Python prints an interrupt that comes within a fork, and goes on.
        with put_off():
            process = stack.enter_context(start(arguments, **options))
            stack.push(lambda _, end, __: _end_too(process, end))
            if threading.current_thread() is not threading.main_thread():
                _OF_THREADS.add(process)
                stack.callback(_OF_THREADS.discard, process)
                if _ENDING.is_set():
                    _terminate(process.pid)
        yield process


def _end_too(process: subprocess.Popen[Any], end: BaseException | None) -> None:
    """Let a program end, or end it, if this process ends; nobody may have told the program yet."""
    try:
        if isinstance(end, Ended):
            _terminate(process.pid)
        for seconds in ENDS if end else ():
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
                break
            process.send_signal(signal.SIGINT)
    finally:
        process.kill()


def _terminate(pid: int) -> None:
    """Send SIGTERM to a child and to its descendants, which may hold its pipes."""
    children: list[int] = []
    # It, or one of them, may just have ended.
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    # It comes first: a shell whose child has ended begins its next command.
    with suppress(OSError):
        os.kill(pid, signal.SIGTERM)
    for child in children:
        _terminate(child)


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

    output: the file for its standard output, if not the terminal. ignores_interrupt: start
    it with ctrl-C ignored; it is killed soon after one that it still ignores. Raises CommandError
    if the program cannot be started.
    """
    options: dict[str, Any] = {"preexec_fn": _ignore_interrupt} if ignores_interrupt else {}
    fix = "check the spelling of its path or name"
    with _running(arguments, fix=fix, cwd=cwd, env=env, stdout=output, **options) as process:
        return int(process.wait())


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


def start(
    arguments: Sequence[str | Path], *, fix: str = "", **options: Any
) -> subprocess.Popen[Any]:
    """Start a program, with the options of Popen, and log it.

    Raises CommandError, with the fix or the whole command, if it cannot be started.
    """
    LOGGER.info("+ %s", quoted(arguments))
    try:
        return subprocess.Popen([str(argument) for argument in arguments], **options)
    except OSError as error:
        fix = how_to_start(arguments[0]) or fix or f"the whole command: {quoted(arguments)}"
        raise CommandError(f"cannot run {arguments[0]}: {error.strerror}", fix=fix) from error


def how_to_start(program: str | Path) -> str:
    """Return what to type for a file that is no program, such as a script; "" if there is none."""
    is_file = Path(program).is_file()
    return f"name what runs the file: -- python {quoted([program])}" if is_file else ""


# Programs that other threads than the main one run, and wait for.
_OF_THREADS: set[subprocess.Popen[Any]] = set()
# Whether they are to end, from the first signal on: a thread may be about to start one, and nobody
# waits for a thread whose start the signal has interrupted.
_ENDING = threading.Event()


def failed(
    words: Sequence[str | Path], tail: str, accepted: Collection[int], status: int
) -> CommandError:
    """Return the error for a program that ended with a status that is not accepted."""
    # In one line: what follows the first is the output.
    command = " ".join(quoted(words).splitlines())
    return CommandError(
        f"{command}\n{tail}",
        expected="exit status " + " or ".join(map(str, accepted)),
        found=f"exit status {status}",
    )


def quoted(arguments: Sequence[str | Path]) -> str:
    """Return a command line, quoted for a shell."""
    return shlex.join(str(a) for a in arguments)


# What ends a process that has no handler: of `kill` and batch systems, and of a closed terminal.
ENDING = (signal.SIGTERM, signal.SIGHUP)
ENDING_TWICE = b"\nending; ctrl-C once more ends at once, and leaves temporary files\n"


class Ended(SystemExit):
    """A signal of ENDING has come. status: 128 + its number, as a shell has it."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number
        super().__init__(self.status)


@contextmanager
def ended_once() -> Iterator[None]:
    """In the block, let the first ctrl-C, or signal of ENDING, raise what unwinds this process.

    That is KeyboardInterrupt, or Ended. The second waits: people press ctrl-C twice, and it would
    interrupt what removes the temporary folders. The third raises, too. A signal that is ignored,
    as under nohup, stays so. To be entered in the main thread.
    """
    count, owner = 0, os.getpid()

    def end(number: int, _: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            # Threads get no signal, and the main one waits for them.
            _ENDING.set()
            for process in tuple(_OF_THREADS):
                _terminate(process.pid)
        if count != 2:
            raise KeyboardInterrupt if number == signal.SIGINT else Ended(number)
        if os.getpid() == owner:
            # Not print(): the signal may have interrupted another one. A closed terminal fails.
            with suppress(OSError):
                os.write(sys.stderr.fileno(), ENDING_TWICE)

    with _handled(end):
        yield


@contextmanager
def put_off() -> Iterator[None]:
    """In the block, put off what interrupts or ends this process to the end of the block.

    For a block that starts a program and keeps its process: if a signal comes between the two,
    nobody can end the program. In other threads than the main one no signal comes.
    """
    came: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    try:
        with _handled(lambda number, _: came.append(number)) if is_main else nullcontext():
            yield
    finally:
        for number in came:
            signal.raise_signal(number)


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """In the block, have a handler for those of ctrl-C and ENDING that are not ignored."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    # None: not Python's.
    handled = [each for each, old in before.items() if old not in (signal.SIG_IGN, None)]
    for number in handled:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
