"""The program that runs an order (programs.module_command starts it), and what supervises it.

It reads one line of JSON, the order, and writes one, the answer; progress goes to standard error.
It stops, with all that it has started, when its standard input ends.
"""

import base64
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from stacks.bench import candidates
from stacks.bench import command as bench_command
from stacks.cluster import messages
from stacks.core.disk import hold_lock, tmp_folder
from stacks.core.errors import StacksError, StaleError, UsageError
from stacks.core.process import TAIL, failed, start
from stacks.core.workspace import Workspace, default_workspace, revision
from stacks.environments import folders, programs
from stacks.environments.care import verify as verification
from stacks.environments.make import build as pipeline
from stacks.environments.use.jobs import Job, run_each, shared_out
from stacks.environments.use.run import variables
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

# Seconds: a stopped build may take so long to clean up, its program so long to end; and how often
# its supervisor looks whether it is still wanted.
GRACE, ENDS, POLL = 10.0, 15.0, 0.5
# Bytes of a log that are sent; the last ones of a longer one.
MOST_LOG = 8 << 20


def main(workspace: Workspace) -> None:
    """Run the order on standard input."""
    order = messages.Order.model_validate_json(sys.stdin.readline())
    threading.Thread(target=_stop_with_input, daemon=True).start()
    # The verification prints its table on standard output, which is for the answer only.
    answer_to = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        answer = run_order(workspace, order)
    except StacksError as error:
        answer = messages.Answer(error=messages.RemoteError.of(error))
    with os.fdopen(answer_to, "w") as out:
        out.write(answer.model_dump_json(by_alias=True))


def run_order(workspace: Workspace, order: messages.Order) -> messages.Answer:
    """Run an order. Raises DiskError if the checkout cannot be written."""
    try:
        messages.check(order, messages.digests(workspace), revision()[0])
        if order.share and not Path(order.share.folder).is_dir():
            raise UsageError(
                f"{order.share.folder} is not on this machine",
                expected="the folder of your program, at the same path on each machine",
                fix="run it in a folder that they share, or copy it there",
            )
    except (StaleError, UsageError) as error:
        return messages.Answer(error=messages.RemoteError.of(error), refused=True)
    folders.protect_build(workspace)
    folders.protect_cache(workspace)
    # Machines may share a checkout in a home folder; its reports are of one machine at a time.
    with hold_lock(workspace.cluster / "worker", "a job of another machine"):
        variants = [load_variant(workspace, name) for name in order.variants]
        if order.share:
            return messages.Answer(runs=run_share(workspace, variants[0], order.share))
        outcomes = tuple(_outcome(workspace, variant, order) for variant in variants)
        passed = {outcome.variant for outcome in outcomes if outcome.status == messages.PASSED}
        if order.timing is None or not passed:
            return messages.Answer(outcomes=outcomes)
        try:
            chosen = [variant for variant in variants if variant.id in passed]
            ready = candidates.require_candidates(workspace, chosen)
            result = bench_command.timed(workspace, ready, order.timing)
        except StacksError as error:
            return messages.Answer(outcomes=outcomes, error=messages.RemoteError.of(error))
        return messages.Answer(outcomes=outcomes, result=result)


def run_share(
    workspace: Workspace, variant: Variant, share: messages.Share
) -> tuple[messages.Run, ...]:
    """Build a variant if it is not, run the share's jobs in it, and return how each ended.

    Raises StacksError if the environment cannot be made, or the program not be started.
    """
    prefix = pipeline.make_environment(workspace, variant)
    # This process is for this order alone.
    os.chdir(share.folder)
    env = shared_out(variant, variables(variant, prefix), share.at_once, len(share.jobs))
    runs = []
    with tmp_folder() as logs:

        def record(job: Job, status: int, seconds: float) -> None:
            log = base64.b64encode(_end_of(job.log(logs)))
            runs.append(messages.Run(job=job.number, status=status, seconds=seconds, log=log))

        run_each(share.jobs, share.at_once, logs, env, record)
    return tuple(runs)


def _end_of(log: Path) -> bytes:
    size = log.stat().st_size
    with log.open("rb") as file:
        if size <= MOST_LOG:
            return file.read()
        file.seek(size - MOST_LOG)
        return b"... %d bytes left out\n" % (size - MOST_LOG) + file.read(MOST_LOG)


def _outcome(workspace: Workspace, variant: Variant, order: messages.Order) -> messages.Outcome:
    """Build and verify a variant; before a timing an earlier verification here is enough."""
    status, error = messages.NOT_MADE, None
    try:
        prefix = pipeline.make_environment(workspace, variant)
        if order.timing and any(c.verified for c in candidates.candidates(workspace, [variant])):
            print(f"{variant.id}: already verified", file=sys.stderr, flush=True)
        else:
            status = messages.FAILED
            verification.verify_variant(workspace, variant, prefix, full=order.full)
        status = messages.PASSED
    except StacksError as raised:
        error = messages.RemoteError.of(raised)
        # Of the verification: what it ended with.
        ends = {programs.NO_DEVICE: messages.NO_DEVICE, programs.CANNOT_RUN: messages.NOT_MADE}
        status = ends.get(raised.exit_code, status) if status == messages.FAILED else status
    report = None if status == messages.NOT_MADE else folders.read_report(workspace, variant)
    if status == messages.FAILED and report:
        error = _failed_checks(variant, report)
    print(f"{variant.id}: {status}", file=sys.stderr, flush=True)
    return messages.Outcome.model_validate(
        {"variant": variant.id, "status": status, "error": error, "report": report}
    )


def _failed_checks(variant: Variant, report: Mapping[str, Any]) -> messages.RemoteError:
    """Return an error that names the failed checks: the client does not see the table of checks."""
    failed = [check for check in report["checks"] if check["status"] == "fail"]
    return messages.RemoteError(
        what=f"{variant.id} failed its verification",
        found="\n".join(f"{check['name']}: {check['detail']}" for check in failed),
        # A report of schema 1 has no key `fix`.
        fix="\n".join(dict.fromkeys(check["fix"] for check in failed if check.get("fix"))) or None,
    )


def _stop_with_input() -> None:
    sys.stdin.read()
    os.killpg(0, signal.SIGINT)
    time.sleep(GRACE)
    os.killpg(0, signal.SIGKILL)


def run_supervised(
    arguments: Sequence[str | Path],
    line: str,
    on_line: Callable[[str], None],
    is_wanted: Callable[[], bool],
    *,
    cwd: Path | None = None,
) -> str | None:
    """Run a program while it is wanted; return its standard output, None if it was stopped.

    The program reads `line` on standard input. That stays open; when it is closed, also by the end
    of this process, the program must stop. `on_line` gets each line of its standard error, in
    another thread. The program runs in a session of its own, which is killed in the end. Raises
    CommandError as process.call does.
    """
    tail: deque[str] = deque(maxlen=TAIL)

    def listen(stream: IO[str]) -> None:
        for text in stream:
            tail.append(text.rstrip())
            on_line(tail[-1])

    stopped = False
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = start(
            arguments,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        assert process.stdin and process.stderr
        thread = threading.Thread(target=listen, args=(process.stderr,), daemon=True)
        thread.start()
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
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDS)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            thread.join()
            process.stderr.close()
        output.seek(0)
        answer = output.read()
    if stopped:
        return None
    if process.returncode:
        raise failed(arguments, "\n".join(tail), (0,), process.returncode)
    return answer


if __name__ == "__main__":
    try:
        main(default_workspace())
    except KeyboardInterrupt:
        os.killpg(0, signal.SIGKILL)
