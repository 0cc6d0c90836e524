"""What one run has learnt of each server, so that a dead one is not asked for each file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from stacks.core.errors import FetchError

# Seconds: how long a waiting thread takes to see that the run was stopped.
POLL = 0.1


class Server:
    """One server: until it has answered or failed, only one thread asks it and others wait."""

    def __init__(self) -> None:
        self.failure: FetchError | None = None
        self._settled = threading.Event()
        self._first = threading.Lock()

    @property
    def answered(self) -> bool:
        """Whether it has answered a request, with any status."""
        return self._settled.is_set() and self.failure is None

    def answers(self) -> None:
        """Note that it has answered: the waiting threads go on."""
        self._settled.set()

    def fails(self, failure: FetchError) -> None:
        """Note that all tries failed: the rest of this run leaves it out."""
        self.failure = failure
        self._settled.set()

    @contextmanager
    def turn(self, stop: threading.Event) -> Iterator[None]:
        """Wait until this thread may ask, or `stop` is set."""
        first = False
        while not (first or self._settled.is_set() or stop.is_set()):
            first = self._first.acquire(blocking=False)
            if not first:
                self._settled.wait(POLL)
        try:
            yield
        finally:
            if first:
                self._first.release()


class Servers:
    """The servers of one run, each by its host and port, or by a mirror's root."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[str, Server] = {}

    def at(self, place: str) -> Server:
        """Return the server at a place."""
        with self._lock:
            return self._servers.setdefault(place, Server())
