"""A program that stays and answers line by line, and is stopped while it has nothing to do."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.core.process import TAIL, CommandError, cannot_run, quoted

PROC = Path("/proc")
PIECE = 1 << 16
TICKS = os.sysconf("SC_CLK_TCK")


class NoAnswerError(CommandError):
    """A program has not answered within its limit; it may still be at work."""


class SuspendedProcess:
    """A program that answers each JSON object on its standard input with one on its output.

    It begins with an answer that nobody asked for. After each answer all of it is stopped, so that
    no thread of it takes processor time, until the next question. It is a session of its own:
    neither ctrl-C nor ctrl-Z on the terminal reaches it, only `kill` ends it for certain.
    """

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str], limit: float) -> None:
        """Start it; `limit` seconds are the most that an answer may take.

        Raises CommandError where it cannot be started.
        """
        self._words = [str(word) for word in words]
        self._limit = limit
        self._read = b""
        # Closed by kill().
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                self._words,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise cannot_run(self._words, error) from error

    def answer(self) -> dict[str, Any]:
        """Return the next answer, and stop the program.

        Raises NoAnswerError where it takes longer than its limit, another CommandError where it
        ends, or says what is no answer.
        """
        deadline = time.monotonic() + self._limit
        while b"\n" not in self._read:
            self._read += self._piece(deadline)
        line, _, self._read = self._read.partition(b"\n")
        self._signal(signal.SIGSTOP)
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise CommandError(
                f"{quoted(self._words)}: its answer cannot be read",
                found=line.decode(errors="replace")[-200:],
            )
        return found

    def ask(self, **question: Any) -> dict[str, Any]:
        """Have the program go on with a question and return its answer; raises as `answer` does."""
        assert self._process.stdin
        self._signal(signal.SIGCONT)
        # A program that has ended is told of when its answer is missing.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        return self.answer()

    def processor_seconds(self) -> float:
        """Return the processor time that the program has taken so far."""
        try:
            text = (PROC / str(self._process.pid) / "stat").read_text()
        except OSError:
            return 0.0
        # The second field, a name in brackets, may hold blanks.
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def kill(self) -> None:
        """End the program, stopped or not, and what it has started; wait until it is gone."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout):
            if file:
                with contextlib.suppress(BrokenPipeError):
                    file.close()
        self._errors.close()

    def _piece(self, deadline: float) -> bytes:
        assert self._process.stdout
        left = max(deadline - time.monotonic(), 0.0)
        if not select.select([self._process.stdout], [], [], left)[0]:
            raise NoAnswerError(
                f"{quoted(self._words)}\n{self._tail()}".rstrip(),
                expected=f"an answer within {self._limit:g} s",
                found="none: it hangs, or the machine is slower than was thought",
                fix="give it more time with --limit SECONDS, or find out what it waits for",
            )
        piece = os.read(self._process.stdout.fileno(), PIECE)
        if not piece:
            status = self._process.wait()
            raise CommandError(
                f"{quoted(self._words)}\n{self._tail()}".rstrip(),
                expected="an answer",
                found=_ended(status),
            )
        return piece

    def _tail(self) -> str:
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace")
        return "\n".join(text.strip().splitlines()[-TAIL:])

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is not None:
            # Its number may be another's by now.
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def _ended(status: int) -> str:
    if status < 0:
        return f"it was killed by {signal.Signals(-status).name}"
    return f"it ended with exit status {status}"
