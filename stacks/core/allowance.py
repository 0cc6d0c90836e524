"""A limit on the time that a peer may take, and a socket's stream that keeps to it."""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Callable


class Allowance:
    """The seconds that a transfer may take: `grace`, and more for each byte that it gains.

    The limit moves with the bytes, so a transfer below `least_rate` (bytes per second) ends soon
    after its grace, whatever its size. Only useful bytes are to be counted, not those of headers.
    """

    def __init__(self, grace: float, least_rate: float) -> None:
        self.grace, self.least_rate = grace, least_rate
        self.gained = 0
        self._start = time.monotonic()

    def gain(self, count: int) -> None:
        """Count bytes that were received."""
        self.gained += count

    @property
    def elapsed(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """The seconds that are left; negative if none are."""
        return self.grace + self.gained / self.least_rate - self.elapsed


def limited_stream(connection: socket.socket, left: Callable[[], float]) -> io.BufferedReader:
    """Return a stream to read from a socket; TimeoutError when `left()` seconds are used up.

    The socket's own timeout limits one read, and a peer that sends a byte now and then never
    reaches it.
    """
    return io.BufferedReader(_LimitedStream(connection, left))


class _LimitedStream(io.RawIOBase):
    def __init__(self, connection: socket.socket, left: Callable[[], float]) -> None:
        self._connection, self._left = connection, left
        self._timeout = connection.gettimeout()
        self._stream = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        left = self._left()
        if left <= 0:
            raise TimeoutError("timed out")
        self._connection.settimeout(left if self._timeout is None else min(left, self._timeout))
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()
