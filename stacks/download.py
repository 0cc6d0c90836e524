"""One URL at a time: patient, resumable, and never showing a password."""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
import urllib3

from stacks.disk import explained
from stacks.errors import FetchError
from stacks.mirrors import PipSettings, shown

T = TypeVar("T")
BLOCK = 1 << 18
LONGEST_PAUSE = 30.0
_local = threading.local()


class MissingError(FetchError):
    """The server was reached and does not have the file."""


class TransientError(FetchError):
    """A failure that may be gone on the next try."""

    def __init__(self, what: str, *, mend: str | None = None, after: float | None = None) -> None:
        super().__init__(what, mend=mend)
        self.after = after


class StoppedError(FetchError):
    """Another thread failed, or the user pressed ctrl-C: this one gives up too."""


@dataclass(frozen=True, kw_only=True)
class Web:
    """How servers are reached: whom to trust, through which proxy, how patiently.

    Proxies of the environment and ~/.netrc count too; the library `requests` sees to that.
    """

    stop: threading.Event
    verify: str | bool = True
    client_cert: str | None = None
    proxy: str | None = None
    trusted_hosts: tuple[str, ...] = ()
    timeout: float = 15.0
    retries: int = 4
    told: set[str] = field(default_factory=set, compare=False)

    def trusts(self, url: str) -> bool:
        """Whether the user told pip to do without a valid certificate for this URL's host."""
        return bool({urlsplit(url).hostname, _host(url)} & set(self.trusted_hosts))

    def get(self, url: str, headers: dict[str, str]) -> requests.Response:
        """Ask once; the body is left to be read from `.raw`.

        Raises MissingError, TransientError or FetchError, none of which shows a password.
        """
        trusted = self.trusts(url)
        if trusted:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        try:
            response = _session().get(
                url,
                headers=headers,
                stream=True,
                timeout=self.timeout,
                verify=False if trusted else self.verify,
                cert=self.client_cert,
                proxies={"http": self.proxy, "https": self.proxy} if self.proxy else None,
            )
        except OSError as error:
            raise _unreachable(url, error) from error
        if response.ok or response.status_code == 416:
            return response
        response.close()
        raise _refused(url, response)


def environment_web(stop: threading.Event) -> Web:
    """Return the way to Debian's mirrors: the environment's CA bundle and proxies."""
    return Web(stop=stop, verify=_environment_bundle())


def pip_web(stop: threading.Event, settings: PipSettings) -> Web:
    """Return the way to package indexes: as pip is configured, else as the environment says."""
    return Web(
        stop=stop,
        verify=settings.cert or _environment_bundle(),
        client_cert=settings.client_cert,
        proxy=settings.proxy,
        trusted_hosts=settings.trusted_hosts,
        timeout=settings.timeout,
        retries=settings.retries,
    )


def _environment_bundle() -> str | bool:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        if bundle := os.environ.get(name):
            return bundle
    return True


def _session() -> requests.Session:
    # A session of requests is not safe to share between threads.
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
        _local.session.headers["User-Agent"] = "theano-stacks"
    session: requests.Session = _local.session
    return session


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _unreachable(url: str, error: BaseException) -> FetchError:
    host = _host(url)
    reason = _reason(error)
    if isinstance(error, requests.exceptions.SSLError) or "certificate" in reason:
        return FetchError(
            f"{shown(url)}: no trusted connection to {host}: {reason}",
            mend="export SSL_CERT_FILE=<the CA bundle of your network>",
        )
    if isinstance(error, ValueError):
        return FetchError(
            f"{shown(url)}: not an address that can be asked",
            mend="look at the spelling of the mirror or index",
        )
    if isinstance(error, OSError) and not isinstance(error, requests.RequestException):
        return FetchError(
            f"{shown(url)}: {reason}", mend="look at the CA bundle and the client certificate"
        )
    through = " through the proxy" if isinstance(error, requests.exceptions.ProxyError) else ""
    return TransientError(
        f"{shown(url)}: {host} cannot be reached{through}: {reason}",
        mend="look at the network and at https_proxy and http_proxy; or set another mirror: "
        "DEBIAN_MIRROR for debs, pip's index-url for the rest",
    )


def _reason(error: BaseException) -> str:
    """Return the innermost cause in the system's own words: outer ones may quote the URL."""
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return "no answer in time"
    innermost: BaseException | None = error
    text = ""
    while innermost is not None:
        if isinstance(innermost, OSError) and innermost.strerror:
            text = innermost.strerror
        innermost = innermost.__cause__ or innermost.__context__
    return re.sub(r"^\[.*?\]\s*|\s*\(_ssl\.c:\d+\)$", "", text) or "the connection broke"


def _refused(url: str, response: requests.Response) -> FetchError:
    status = f"{shown(url)}: the server answered {response.status_code} {response.reason}"
    if response.status_code in (404, 410):
        return MissingError(status)
    if response.status_code in (408, 425, 429) or response.status_code >= 500:
        try:
            after = urllib3.Retry().get_retry_after(response.raw)
        except urllib3.exceptions.InvalidHeader:
            after = None
        return TransientError(status, mend="try again later, or set another mirror", after=after)
    return FetchError(
        status,
        mend="look at the user and password for this server in your configuration or ~/.netrc",
    )


def pause(stop: threading.Event, seconds: float) -> None:
    """Wait, but no longer than until the others stop."""
    stop.wait(seconds)


def patiently(web: Web, url: str, attempt: Callable[[], T], progressed: Callable[[], bool]) -> T:
    """Try until it works: after a TransientError wait longer each time, with jitter.

    The count starts anew after a try that made progress. One note a server tells of the wait.
    """
    host = _host(url)
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
            if host not in web.told:
                web.told.add(host)
                print(f"trying again: {error.what}", file=sys.stderr, flush=True)
            jitter = random.uniform(0.5, 1.0)  # noqa: S311  # it spreads load and guards nothing
            backoff = 0.25 * 2**failures * jitter
            pause(web.stop, min(LONGEST_PAUSE, max(backoff, error.after or 0.0)))


def page(web: Web, url: str, accept: str) -> tuple[bytes, str, str]:
    """Return a small document's bytes, its content type and the URL that gave it at last."""

    def attempt() -> tuple[bytes, str, str]:
        with web.get(url, {"Accept": accept}) as response:
            try:
                return response.content, response.headers.get("Content-Type", ""), response.url
            except OSError as error:
                raise _unreachable(url, error) from error

    return patiently(web, url, attempt, lambda: False)


def download(
    web: Web, url: str, part: Path, size: int | None, advance: Callable[[int], None]
) -> None:
    """Bring a URL's bytes into `part`, going on from what is there already.

    `size` ends the transfer where a server sends more; `advance` is told each gain in bytes
    (a loss is negative). Raises what Web.get raises, and DiskError.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        _copy(Path(url2pathname(parts.path)), url, part, advance)
        return
    reached = [_length(part)]

    def progressed() -> bool:
        before, reached[0] = reached[0], _length(part)
        return reached[0] > before

    patiently(web, url, lambda: _transfer(web, url, part, size, advance), progressed)


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _copy(source: Path, url: str, part: Path, advance: Callable[[int], None]) -> None:
    if not source.is_file():
        raise MissingError(f"{shown(url)}: no such file")
    with explained(part):
        advance(-_length(part))
        shutil.copyfile(source, part)
        advance(_length(part))


def _transfer(
    web: Web, url: str, part: Path, size: int | None, advance: Callable[[int], None]
) -> None:
    start = _length(part)
    if size is not None and start == size:
        return
    # Some servers call a .tar.gz a gzip-encoded tar; the pinned bytes are those on the wire.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with web.get(url, headers) as response:
        resumed = response.status_code == 206 and response.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {start}-")
        if start and not resumed:
            with explained(part):
                part.unlink()
            advance(-start)
            start = 0
            if response.status_code in (206, 416):
                raise TransientError(f"{shown(url)}: the server cannot resume this file")
        if response.status_code == 416:
            raise FetchError(f"{shown(url)}: the server answered 416 to a request for all of it")
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
    done = start
    with explained(part), part.open("ab") as file:
        while True:
            try:
                block = response.raw.read(BLOCK, decode_content=False)
            except (OSError, urllib3.exceptions.HTTPError) as error:
                raise TransientError(f"{shown(url)}: {_reason(error)}") from error
            if not block:
                break
            if web.stop.is_set():
                raise StoppedError("stopped")
            file.write(block)
            done += len(block)
            advance(len(block))
            if size is not None and done > size:
                return
    if size is not None and done < size:
        raise TransientError(f"{shown(url)}: the server sent {done} of {size} bytes")
