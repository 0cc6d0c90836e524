"""A program that runs only while somebody wants its answer."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from stacks.core.process import TAIL, failed, start

# Poll interval, and the time in which a stopped program must end. Seconds.
POLL, GRACE = 0.5, 15.0


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
        raise failed(arguments, "\n".join(tail), (0,), process.returncode)
    return "".join(output)


def _end(process: subprocess.Popen[str]) -> None:
    """Close a program's standard input and give it time to end."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
