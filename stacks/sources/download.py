"""Download of one URL, with resuming."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import FetchError
from stacks.sources.connection import OTHER_SERVER, Allowance
from stacks.sources.mirrors import public_url
from stacks.sources.retries import retry
from stacks.sources.web import BROKEN, MissingError, StoppedError, TransientError, Web, reason_of

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)
BLOCK = 1 << 18
# Bytes: an index's page, after decompression; a file that has no pin yet.
LARGEST_DOCUMENT = 64 << 20
LARGEST_FILE = 2 << 30


def get_document(
    web: Web, url: str, accept: str, limit: int = LARGEST_DOCUMENT
) -> tuple[bytes, str, str]:
    """Return a document's bytes, its content type and its URL after redirects.

    limit: the most bytes, also after decompression; FetchError if there are more.
    """

    if url.startswith("file:"):
        return _document_of_disk(url, limit), "", url

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
    if url.startswith("file:"):
        return _on_disk(url, LARGEST_FILE).stat().st_size

    def attempt(allowance: Allowance) -> int | None:
        headers = {"Accept-Encoding": "identity"}
        with web.get(url, headers, allowance, method="HEAD") as response:
            length = response.headers.get("Content-Length")
            # There is no body, but only a read hands the connection on to the next request.
            response.raw.read()
            return None if length is None else int(length)

    return retry(web, url, attempt)


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
    if not decode and (response.raw.length_remaining or 0) > limit:
        raise _too_much(url, limit)
    length = 0
    while True:
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
            raise _too_much(url, limit)
        allowance.gain(response.raw.tell() - before)
        yield block


def _too_much(url: str, limit: int) -> FetchError:
    return FetchError(
        f"{public_url(url)}: the server sends too much",
        expected=f"at most {limit} bytes",
        fix=OTHER_SERVER,
    )


def download(
    web: Web, url: str, part: Path, size: int | None, advance: Callable[[int], None]
) -> None:
    """Download a URL into the file `part`, resuming from the bytes that it has.

    size: of the whole file; no more is written, nor more than LARGEST_FILE if it is None. advance:
    called with each change of the number of bytes, negative for a loss. Raises what Web.get
    raises, and DiskError.
    """
    if url.startswith("file:"):
        _copy(url, part, size, advance)
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

    def attempt(allowance: Allowance) -> None:
        _transfer(web, url, part, size, advance, allowance)

    retry(web, url, attempt, progressed)


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _discard(part: Path, advance: Callable[[int], None]) -> None:
    with explain_disk_errors(part):
        advance(-_length(part))
        part.unlink(missing_ok=True)


def _on_disk(url: str, limit: int) -> Path:
    """Return the path of a file: URL; MissingError or FetchError if it is not one of that size."""
    source = Path(url2pathname(urlsplit(url).path))
    if not source.is_file():
        raise MissingError(f"{public_url(url)}: no such file")
    if source.stat().st_size > limit:
        raise _too_much(url, limit)
    return source


def _document_of_disk(url: str, limit: int) -> bytes:
    source = _on_disk(url, limit)
    with explain_disk_errors(source):
        return source.read_bytes()


def _copy(url: str, part: Path, size: int | None, advance: Callable[[int], None]) -> None:
    source = _on_disk(url, LARGEST_FILE if size is None else size)
    _discard(part, advance)
    with explain_disk_errors(part):
        shutil.copyfile(source, part)
        advance(_length(part))


def _transfer(
    web: Web,
    url: str,
    part: Path,
    size: int | None,
    advance: Callable[[int], None],
    allowance: Allowance,
) -> None:
    if size is not None and _length(part) > size:
        _discard(part, advance)
    start = _length(part)
    if start == size:
        return
    # Some servers send a .tar.gz as a gzip-encoded tar; the pinned bytes are those on the wire.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with web.get(url, headers, allowance) as response:
        resumed = response.status_code == 206 and response.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {start}-")
        if start and not resumed:
            _discard(part, advance)
            start = 0
            if response.status_code in (206, 416):
                raise TransientError(
                    f"{public_url(url)}: the server cannot resume this file", fix=OTHER_SERVER
                )
        if response.status_code == 416:
            raise FetchError(
                f"{public_url(url)}: the server answered 416 to a request for all of it",
                fix=OTHER_SERVER,
            )
        limit = (LARGEST_FILE if size is None else size) - start
        blocks = _blocks(web, url, response, allowance, limit, decode=False)
        with explain_disk_errors(part), part.open("ab") as file:
            for block in blocks:
                file.write(block)
                advance(len(block))
    if size is not None and _length(part) < size:
        raise TransientError(
            f"{public_url(url)}: the server sent {_length(part)} of {size} bytes", fix=OTHER_SERVER
        )
