"""Processes of the bench: programs that are stopped between their answers, and busy loops."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench import machine
from stacks.core import jsonfile
from stacks.core.disk import scratch_parent
from stacks.core.process import TAIL, CommandError, cannot_run, quoted, start

PIECE = 1 << 16
# Prints a line when it begins. It ends at the end of its standard input, which the system closes
# when the process that started it ends, by whatever signal.
LOOP = """
import select
print(flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(100000):
        pass
"""


class NoAnswerError(CommandError):
    """A program has not answered within its limit; it may still run."""


class SuspendedProcess:
    """A program that answers each JSON object on its standard input with one on its output.

    Its first answer needs no question. After each answer the whole program is stopped until the
    next question, so that its threads take no processor time. It runs in a session of its own, out
    of reach of ctrl-C and ctrl-Z; `kill` ends it.
    """

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str], limit: float) -> None:
        """Start it; an answer may take `limit` seconds.

        Raises CommandError if it cannot be started.
        """
        self._words = [str(word) for word in words]
        self._limit = limit
        self._read = b""
        # Closed by kill().
        self._errors = tempfile.TemporaryFile(dir=scratch_parent())  # noqa: SIM115
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

        Raises NoAnswerError if it takes longer than its limit, another CommandError if the
        program ends or its answer is no JSON object.
        """
        deadline = time.monotonic() + self._limit
        while b"\n" not in self._read:
            self._read += self._piece(deadline)
        line, _, self._read = self._read.partition(b"\n")
        self._signal(signal.SIGSTOP)
        try:
            answer = jsonfile.parse(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise CommandError(
                f"{quoted(self._words)}: its answer cannot be read",
                found=line.decode(errors="replace")[-200:],
            )
        return answer

    def ask(self, **question: Any) -> dict[str, Any]:
        """Continue the program with a question and return its answer; raises as `answer` does."""
        assert self._process.stdin
        self._signal(signal.SIGCONT)
        # If the program has ended, `answer` raises the error.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        return self.answer()

    def processor_seconds(self) -> float:
        """Return the seconds of processor time of the program so far."""
        return machine.processor_seconds(self._process.pid)

    def kill(self) -> None:
        """Kill the program, stopped or not, and its children; wait for its end."""
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
                found="none: it hangs, or the machine is slow",
                fix="give it more time: --limit SECONDS",
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
            # Its process ID may belong to another process now.
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def _ended(status: int) -> str:
    if status < 0:
        return f"it was killed by {signal.Signals(-status).name}"
    return f"it ended with exit status {status}"


@dataclass(frozen=True)
class BusyLoops:
    """The processes of some loops."""

    processes: Sequence[subprocess.Popen[Any]] = ()

    def processor_seconds(self) -> float:
        """Return the processor time that they have taken."""
        return sum(machine.processor_seconds(process.pid) for process in self.processes)


@contextlib.contextmanager
def busy_loops(count: int, code: str = LOOP) -> Iterator[BusyLoops]:
    """Run so many loops during the block; all are busy when it begins, and gone when it has ended.

    They may use the processors of this process. code: of a loop. Raises CommandError if one cannot
    be started.
    """
    words = [sys.executable, "-I", "-S", "-c", code]
    with contextlib.ExitStack() as stack:
        processes = []
        for _ in range(count):
            process = start(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            assert process.stdout
            if not os.read(process.stdout.fileno(), 1):
                raise CommandError(quoted(words[:-1]), expected="a busy loop", found="it ended")
        yield BusyLoops(processes)
