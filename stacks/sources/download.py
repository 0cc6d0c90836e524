"""Download of one URL, with retries and resuming."""

from __future__ import annotations

import logging
import random
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
import urllib3

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import FetchError
from stacks.sources.mirrors import public_url
from stacks.sources.web import (
    MissingError,
    StoppedError,
    TransientError,
    Web,
    host_of,
    reason_of,
    unreachable,
)

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)
BLOCK = 1 << 18
LONGEST_PAUSE = 30.0


def pause(stop: threading.Event, seconds: float) -> None:
    """Wait, but not longer than until `stop` is set."""
    stop.wait(seconds)


def retry(web: Web, url: str, attempt: Callable[[], T], progressed: Callable[[], bool]) -> T:
    """Return what `attempt` returns; after each TransientError wait longer, with jitter.

    The count of failures starts again after an attempt that made progress. The first wait for each
    server prints a note.
    """
    host = host_of(url)
    failures = 0
    while True:
        if web.stop.is_set():
            raise StoppedError("stopped")
        try:
            return attempt()
        except TransientError as error:
            failures = 0 if progressed() else failures + 1
            if failures > web.retries:
                raise
            if host not in web.noted_hosts:
                web.noted_hosts.add(host)
                print(f"trying again: {error.what}", file=sys.stderr, flush=True)
            jitter = random.uniform(0.5, 1.0)  # noqa: S311  # no security depends on it
            backoff = 0.25 * 2**failures * jitter
            pause(web.stop, min(LONGEST_PAUSE, max(backoff, error.after or 0.0)))


def get_document(web: Web, url: str, accept: str) -> tuple[bytes, str, str]:
    """Return a small document's bytes, its content type and its URL after redirects."""

    def attempt() -> tuple[bytes, str, str]:
        with web.get(url, {"Accept": accept}) as response:
            try:
                return response.content, response.headers.get("Content-Type", ""), response.url
            except OSError as error:
                raise unreachable(url, error) from error

    document = retry(web, url, attempt, lambda: False)
    LOGGER.info("fetched %s, %d bytes", public_url(url), len(document[0]))
    return document


def download(
    web: Web, url: str, part: Path, size: int | None, advance: Callable[[int], None]
) -> None:
    """Download a URL into the file `part`, resuming from the bytes that it has.

    size: ends the transfer if a server sends more. advance: called with each change of the number
    of bytes, negative for a loss. Raises what Web.get raises, and DiskError.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        _copy(Path(url2pathname(parts.path)), url, part, advance)
    else:
        _retrieve(web, url, part, size, advance)
    LOGGER.info("fetched %s, %d bytes", public_url(url), _length(part))


def _retrieve(
    web: Web, url: str, part: Path, size: int | None, advance: Callable[[int], None]
) -> None:
    reached = [_length(part)]

    def progressed() -> bool:
        before, reached[0] = reached[0], _length(part)
        return reached[0] > before

    retry(web, url, lambda: _transfer(web, url, part, size, advance), progressed)


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _copy(source: Path, url: str, part: Path, advance: Callable[[int], None]) -> None:
    if not source.is_file():
        raise MissingError(f"{public_url(url)}: no such file")
    with explain_disk_errors(part):
        advance(-_length(part))
        shutil.copyfile(source, part)
        advance(_length(part))


def _transfer(
    web: Web, url: str, part: Path, size: int | None, advance: Callable[[int], None]
) -> None:
    start = _length(part)
    if size is not None and start == size:
        return
    # Some servers send a .tar.gz as a gzip-encoded tar; the pinned bytes are those on the wire.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with web.get(url, headers) as response:
        resumed = response.status_code == 206 and response.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {start}-")
        if start and not resumed:
            with explain_disk_errors(part):
                part.unlink()
            advance(-start)
            start = 0
            if response.status_code in (206, 416):
                raise TransientError(f"{public_url(url)}: the server cannot resume this file")
        if response.status_code == 416:
            raise FetchError(
                f"{public_url(url)}: the server answered 416 to a request for all of it"
            )
        _write(web, url, response, part, start, size, advance)


def _write(
    web: Web,
    url: str,
    response: requests.Response,
    part: Path,
    start: int,
    size: int | None,
    advance: Callable[[int], None],
) -> None:
    length = start
    with explain_disk_errors(part), part.open("ab") as file:
        while True:
            try:
                block = response.raw.read(BLOCK, decode_content=False)
            except (OSError, urllib3.exceptions.HTTPError) as error:
                raise TransientError(f"{public_url(url)}: {reason_of(error)}") from error
            if not block:
                break
            if web.stop.is_set():
                raise StoppedError("stopped")
            file.write(block)
            length += len(block)
            advance(len(block))
            if size is not None and length > size:
                return
    if size is not None and length < size:
        raise TransientError(f"{public_url(url)}: the server sent {length} of {size} bytes")
