"""Documents and files at a URL: tried again and later, resumed, within limits of time and size."""

import logging
import random
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import requests

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import FetchError
from stacks.sources.connection import OTHER_SERVER, RATE_VARIABLE, Allowance
from stacks.sources.mirrors import public_url
from stacks.sources.web import (
    BROKEN,
    NO_ANSWER,
    SilentError,
    StoppedError,
    TransientError,
    UnreachableError,
    Web,
    reason_of,
)

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)
BLOCK = 1 << 18
# Bytes: an index's page, after decompression; a file that has no pin yet.
LARGEST_DOCUMENT = 64 << 20
LARGEST_FILE = 2 << 30
# Seconds.
LONGEST_PAUSE = 30.0


def pause(stop: threading.Event, seconds: float) -> None:
    """Wait, but not longer than until `stop` is set."""
    stop.wait(seconds)


def get_document(
    web: Web, url: str, accept: str, limit: int = LARGEST_DOCUMENT
) -> tuple[bytes, str, str]:
    """Return a document's bytes, its content type and its URL after redirects.

    limit: the most bytes, also after decompression; FetchError if there are more.
    """

    def attempt(allowance: Allowance) -> tuple[bytes, str, str]:
        with web.get(url, {"Accept": accept}, allowance) as response:
            content = b"".join(_blocks(web, url, response, allowance, limit, decode=True))
            return content, response.headers.get("Content-Type", ""), response.url

    document = retry(web, url, attempt)
    LOGGER.info("fetched %s, %d bytes", public_url(url), len(document[0]))
    return document


def size_at(web: Web, url: str) -> int | None:
    """Return the size of the file at a URL in bytes without a download, None if it is not known.

    Raises what Web.get raises; MissingError if the server does not have it.
    """

    def attempt(allowance: Allowance) -> int | None:
        headers = {"Accept-Encoding": "identity"}
        with web.get(url, headers, allowance, method="HEAD") as response:
            length = response.headers.get("Content-Length")
            # There is no body, but only a read hands the connection on to the next request.
            response.raw.read()
            return None if length is None else int(length)

    return retry(web, url, attempt)


def download(
    web: Web, url: str, part: Path, size: int | None, advance: Callable[[int], None]
) -> None:
    """Download a URL into the file `part`, resuming from the bytes that it has.

    size: of the whole file; no more is written, nor more than LARGEST_FILE if it is None. advance:
    called with each change of the number of bytes, negative for a loss. Raises what Web.get
    raises, and DiskError.
    """

    def attempt(allowance: Allowance) -> None:
        _transfer(web, url, part, size, advance, allowance)

    retry(web, url, attempt, lambda: _length(part))
    LOGGER.info("fetched %s, %d bytes", public_url(url), _length(part))


def retry(
    web: Web, url: str, attempt: Callable[[Allowance], T], length: Callable[[], int] = lambda: 0
) -> T:
    """Return what `attempt` returns; after each TransientError wait longer, with jitter.

    The count of failures starts again after an attempt with more of `length`, that of what attempts
    have kept. All attempts and waits share one allowance of time. The first wait for a server
    prints a note. A server that never answered is given up after the second timeout; one that was
    given up is not asked again.
    """
    server, allowance, failures, reached = web.server, web.allowance(), 0, length()
    while True:
        if web.stop.is_set():
            raise StoppedError("stopped")
        if server.failure:
            raise server.failure
        try:
            return attempt(allowance)
        except TransientError as error:
            failure = error
        before, reached = reached, length()
        failures = 0 if reached > before else failures + 1
        jitter = random.uniform(0.5, 1.0)  # noqa: S311  # no security depends on it
        wait = min(LONGEST_PAUSE, max(0.25 * 2**failures * jitter, failure.after or 0.0))
        retries = web.retries
        if isinstance(failure, SilentError) and not server.answered:
            retries = min(1, retries)
        elif url.startswith("file:"):
            retries = 0  # what is wrong on a disk stays so
        if failures > retries or wait > allowance.left:
            if allowance.left <= 0 and allowance.gained:
                failure = _slow(url, allowance)
            if isinstance(failure, UnreachableError):
                server.failure = failure
            raise failure
        if not (server.noted or web.quiet):
            server.noted = True
            print(f"trying again: {failure.what}", file=sys.stderr, flush=True)
        pause(web.stop, wait)


def _slow(url: str, allowance: Allowance) -> UnreachableError:
    return UnreachableError(
        f"{public_url(url)}: the server is too slow",
        expected=f"{allowance.least_rate:.0f} bytes per second after {allowance.grace:.0f} s",
        found=f"{allowance.gained} bytes in {allowance.elapsed:.0f} s",
        fix=f"set another mirror or index; on a slow line, export {RATE_VARIABLE}=1000",
    )


def _blocks(
    web: Web,
    url: str,
    response: requests.Response,
    allowance: Allowance,
    limit: int,
    *,
    decode: bool,
) -> Iterator[bytes]:
    """Give a body's blocks as they arrive; FetchError before there are more than `limit` bytes."""
    too_much = FetchError(
        f"{public_url(url)}: the server sends too much",
        expected=f"at most {limit} bytes",
        fix=OTHER_SERVER,
    )
    if not decode and (response.raw.length_remaining or 0) > limit:
        raise too_much
    length = 0
    while True:
        if allowance.left <= 0:
            raise TransientError(f"{public_url(url)}: {NO_ANSWER}", fix=OTHER_SERVER)
        before = response.raw.tell()
        try:
            # read() would wait for a whole block, and lose what came before a timeout.
            block = response.raw.read1(min(BLOCK, limit + 1 - length), decode_content=decode)
        except BROKEN as error:
            raise TransientError(
                f"{public_url(url)}: {reason_of(error)}", fix=OTHER_SERVER
            ) from error
        if not block:
            return
        if web.stop.is_set():
            raise StoppedError("stopped")
        length += len(block)
        if length > limit:
            raise too_much
        allowance.gained += response.raw.tell() - before
        yield block


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _transfer(
    web: Web,
    url: str,
    part: Path,
    size: int | None,
    advance: Callable[[int], None],
    allowance: Allowance,
) -> None:
    start = _length(part)
    if start == size:
        return
    # Some servers send a .tar.gz as a gzip-encoded tar; the pinned bytes are those on the wire.
    headers = {"Accept-Encoding": "identity"}
    if 0 < start < (size or LARGEST_FILE):
        headers["Range"] = f"bytes={start}-"
    with web.get(url, headers, allowance) as response:
        resumed = response.status_code == 206 and response.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {start}-")
        if start and not resumed:
            with explain_disk_errors(part):
                advance(-start)
                part.unlink()
            start = 0
            if response.status_code in (206, 416):
                raise TransientError(
                    f"{public_url(url)}: the server cannot resume this file", fix=OTHER_SERVER
                )
        limit = (LARGEST_FILE if size is None else size) - start
        for block in _blocks(web, url, response, allowance, limit, decode=False):
            with explain_disk_errors(part), part.open("ab") as file:
                file.write(block)
            advance(len(block))
        with explain_disk_errors(part):
            part.touch()  # that of an empty body, too
    if size is not None and _length(part) < size:
        raise TransientError(
            f"{public_url(url)}: the server sent {_length(part)} of {size} bytes", fix=OTHER_SERVER
        )
