"""A process that builds packages, one after another, while the one that started it runs.

multiprocessing would print its own traceback where the parent is killed at the wrong moment, and
leave the compilers that run.
"""

import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from stacks.core.console import collected_log
from stacks.core.disk import tmp_folder
from stacks.core.errors import StacksError
from stacks.core.process import start

ROOT = Path(__file__).resolve().parent.parent.parent
# One line: it is shown where another build waits for this one. What it will call is imported first,
# while the starter fetches.
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); import stacks.channel.package; "
    "from stacks.channel.build_process import main; main()"
)


class BuildProcess:
    """The process, seen by the one that started it.

    It has a session of its own, so a ctrl-C does not reach it; it ends, with all that it has
    started, when its standard input does. What it leaves in TMPDIR when it is killed goes too.
    """

    def __init__(self) -> None:
        self._temporary = ExitStack()
        folder = self._temporary.enter_context(tmp_folder())
        self._process = start(
            [sys.executable, "-I", "-c", PROGRAM, ROOT],
            env={**os.environ, "TMPDIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def begin(self, function: Callable[..., object], *arguments: object) -> None:
        """Have it call a function of stacks/; all must be picklable."""
        with suppress(BrokenPipeError):
            assert self._process.stdin
            pickle.dump((function, arguments), self._process.stdin)
            self._process.stdin.flush()

    def fileno(self) -> int:
        """Return a descriptor that can be read once the call has ended."""
        assert self._process.stdout
        return self._process.stdout.fileno()

    def result(self) -> Any:
        """Wait for the call's end; return its result, and put its log into the log of this process.

        Raises what the function raises, and StacksError if the process is killed.
        """
        assert self._process.stdout
        try:
            answer = pickle.load(self._process.stdout)  # noqa: S301 - from our own process
        except (OSError, EOFError, pickle.UnpicklingError) as lost:
            raise StacksError(
                "a process that built a package was killed",
                fix="if nobody killed it, memory was short: close other programs and try again; "
                "finished packages are kept",
            ) from lost
        result, error, text, records = answer
        for record in records:
            logging.getLogger(record.name).handle(record)
        if error:
            raise error from RuntimeError(text)
        return result

    def end(self) -> None:
        """End it and all that it has started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                assert stream
                stream.close()
        self._temporary.close()


def main() -> None:
    """Call what comes on standard input, and write the results to standard output."""
    # What a stage prints is for the person.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, calls), daemon=True).start()
    while True:
        function, arguments = calls.get()
        answers.write(_answer(function, arguments))
        answers.flush()


def _answer(function: Callable[..., object], arguments: tuple[object, ...]) -> bytes:
    """Return (result, error, its traceback, log) of a call, as `result` reads them."""
    with collected_log() as records:
        try:
            return pickle.dumps((function(*arguments), None, "", records))
        except Exception as error:
            text = traceback.format_exc()
            try:
                return pickle.dumps((None, error, text, records))
            except Exception:
                unknown = RuntimeError("an error that cannot be pickled")
                return pickle.dumps((None, unknown, text, records))


def _read(stream: IO[bytes], calls: queue.SimpleQueue[Any]) -> None:
    """Pass the calls on; at the end of the stream, end this session."""
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            calls.put(pickle.load(stream))  # noqa: S301 - from the process that started this one
    os.killpg(0, signal.SIGKILL)
