"""Tries of one request, again and later, within one allowance of time."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from stacks.core.errors import FetchError
from stacks.sources.connection import Allowance
from stacks.sources.mirrors import public_url
from stacks.sources.web import (
    RATE_VARIABLE,
    SilentError,
    StoppedError,
    TransientError,
    UnreachableError,
    Web,
    host_of,
)

T = TypeVar("T")
# Seconds.
LONGEST_PAUSE = 30.0


class SlowError(FetchError):
    """The bytes came below the least rate."""


class NotAskedError(FetchError):
    """The server was not asked, because it failed before in this run."""


def pause(stop: threading.Event, seconds: float) -> None:
    """Wait, but not longer than until `stop` is set."""
    stop.wait(seconds)


def retry(
    web: Web,
    url: str,
    attempt: Callable[[Allowance], T],
    progressed: Callable[[], bool] = lambda: False,
) -> T:
    """Return what `attempt` returns; after each TransientError wait longer, with jitter.

    The count of failures starts again after an attempt that made progress. All attempts and waits
    share one allowance of time. The first wait for each server prints a note. A server that never
    answered is given up after the second timeout; one that was given up is not asked again.
    """
    server = web.server(url)
    with server.turn(web.stop):
        try:
            return _tries(web, url, attempt, progressed)
        except (UnreachableError, SlowError) as error:
            server.fails(server.failure or error)
            raise


def _tries(
    web: Web, url: str, attempt: Callable[[Allowance], T], progressed: Callable[[], bool]
) -> T:
    host, server = host_of(url), web.server(url)
    allowance = web.allowance()
    failures = 0
    while True:
        if web.stop.is_set():
            raise StoppedError("stopped")
        if server.failure:
            raise _not_asked(url, server.failure)
        try:
            return attempt(allowance)
        except TransientError as error:
            if allowance.left <= 0 and allowance.gained:
                raise _slow(url, allowance) from error
            failures = 0 if progressed() else failures + 1
            jitter = random.uniform(0.5, 1.0)  # noqa: S311  # no security depends on it
            backoff = 0.25 * 2**failures * jitter
            wait = min(LONGEST_PAUSE, max(backoff, error.after or 0.0))
            hopeless = isinstance(error, SilentError) and not server.answered
            retries = min(1, web.retries) if hopeless else web.retries
            if failures > retries or wait > allowance.left:
                raise
            if host not in web.noted_hosts:
                web.noted_hosts.add(host)
                print(f"trying again: {error.what}", file=sys.stderr, flush=True)
            pause(web.stop, wait)


def _not_asked(url: str, failure: FetchError) -> FetchError:
    return NotAskedError(
        f"{public_url(url)}: not asked, as its server failed before in this run",
        found=failure.what,
        fix=failure.fix,
    )


def _slow(url: str, allowance: Allowance) -> SlowError:
    return SlowError(
        f"{public_url(url)}: the server is too slow",
        expected=f"{allowance.least_rate:.0f} bytes per second after {allowance.grace:.0f} s",
        found=f"{allowance.gained} bytes in {allowance.elapsed:.0f} s",
        fix=f"set another mirror or index; on a slow line, export {RATE_VARIABLE}=1000",
    )
