"""The program that does an order: `python -m stacks.cluster.job`.

Reads one line of JSON, the order, and writes one, the answer; progress goes to standard error. It
stops, with all that it has started, when its standard input ends.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stacks.bench import candidates, machine
from stacks.bench import command as bench
from stacks.cluster import fingerprint
from stacks.cluster.messages import (
    FAILED,
    NO_DEVICE,
    NOT_MADE,
    PASSED,
    Answer,
    Order,
    Outcome,
    RemoteError,
)
from stacks.core.disk import locked
from stacks.core.errors import StacksError, StaleError
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments import build as pipeline
from stacks.environments import in_use, reports
from stacks.environments import verify as verification
from stacks.variants.variant import Variant

# How long what was stopped may tidy up.
GRACE = 10.0
PAUSE = 1.0


def main(workspace: Workspace) -> None:
    """Do the order of standard input."""
    order = Order.model_validate_json(sys.stdin.readline())
    threading.Thread(target=_stop_with_input, daemon=True).start()
    # The suite writes its table there; only the answer may go where the answer is read.
    answer_to = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        answer = do(workspace, order)
    except StacksError as error:
        answer = Answer(error=RemoteError.of(error))
    with os.fdopen(answer_to, "w") as out:
        out.write(answer.model_dump_json(by_alias=True))


def do(workspace: Workspace, order: Order) -> Answer:
    """Do an order, alone on its machine. Raises DiskError where the checkout cannot be written."""
    try:
        fingerprint.check(
            order.files, order.commit, fingerprint.files(workspace), bench.revision()[0]
        )
    except StaleError as error:
        return Answer(error=RemoteError.of(error), refused=True)
    in_use.use_build(workspace)
    in_use.use_cache(workspace)
    # Machines may share a checkout, by their home folder; its reports are of one of them.
    with (
        alone(order.machine),
        locked(workspace.cluster / "worker", "what another machine asked for"),
    ):
        outcomes = tuple(
            _outcome(workspace, bench.named(workspace, name, ""), order) for name in order.variants
        )
        fit = [outcome.variant for outcome in outcomes if outcome.status == PASSED]
        if order.timing is None or not fit:
            return Answer(outcomes=outcomes)
        try:
            result = bench.timed(workspace, ",".join(fit), asked=order.timing)
        except StacksError as error:
            return Answer(outcomes=outcomes, error=RemoteError.of(error))
        return Answer(outcomes=outcomes, result=result)


def _outcome(workspace: Workspace, variant: Variant, order: Order) -> Outcome:
    """Build and verify a variant; for timing it is enough that it was verified before."""
    status, told = NOT_MADE, None
    try:
        place = pipeline.make_environment(workspace, variant)
        if order.timing and _passed_here(workspace, variant):
            print(f"{variant.id}: verified before", file=sys.stderr, flush=True)
        else:
            status = FAILED
            verification.verify_variant(workspace, variant, place, full=order.full)
        status = PASSED
    except StacksError as error:
        told = RemoteError.of(error)
        if status == FAILED and error.exit_code == verification.NO_DEVICE:
            status = NO_DEVICE
        elif error.exit_code == verification.CANNOT_RUN:
            status = NOT_MADE
    report = None if status == NOT_MADE else reports.read_report(workspace, variant)
    if status == FAILED and report:
        told = _told(variant, report)
    print(f"{variant.id}: {status}", file=sys.stderr, flush=True)
    return Outcome.model_validate(
        {"variant": variant.id, "status": status, "error": told, "report": report}
    )


def _told(variant: Variant, report: Mapping[str, Any]) -> RemoteError:
    """Return which checks failed: who asked does not see the suite's table."""
    failed = [check for check in report["checks"] if check["status"] == "fail"]
    return RemoteError(
        what=f"{variant.id} failed its verification",
        found="\n".join(f"{check['name']}: {check['detail']}" for check in failed),
        fix="\n".join(dict.fromkeys(check["fix"] for check in failed if check["fix"])) or None,
    )


def _passed_here(workspace: Workspace, variant: Variant) -> bool:
    return any(
        one.verified and one.report and machine.is_here(one.report)
        for one in candidates.candidates(workspace, [variant])
    )


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Wait until no other worker of a machine does anything; then keep the others waiting.

    The kernel takes an abstract name back with the last process that holds it.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as holder:
        told = False
        while True:
            try:
                holder.bind(f"\0theano-stacks {name}")
                break
            except OSError:
                if not told:
                    print("waiting: another worker of this machine is busy", file=sys.stderr)
                    told = True
                time.sleep(PAUSE)
        yield


def _stop_with_input() -> None:
    sys.stdin.read()
    os.killpg(0, signal.SIGINT)
    time.sleep(GRACE)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    try:
        main(default_workspace())
    except KeyboardInterrupt:
        os.killpg(0, signal.SIGKILL)
