"""Sessions of `requests`, the time that a transfer may take, and the addresses it may lead to.

An address that a server redirects to is checked before it is asked. A file: URL is answered as by a
server.
"""

import io
import logging
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

import requests
import urllib3
from requests.adapters import HTTPAdapter

from stacks.core.errors import FetchError, UsageError
from stacks.sources.mirrors import public_url

# urllib3 logs garbled headers with a traceback; such an answer is used or becomes an error.
logging.getLogger("urllib3").setLevel(logging.ERROR)
RATE_VARIABLE = "THEANO_STACKS_LEAST_RATE"
OTHER_SERVER = "set another mirror or index, or ask the operator of this one"


class Allowance:
    """The seconds that a transfer may take: `grace`, and more for each byte that it has `gained`.

    The limit moves with the bytes, so a transfer below `least_rate` (bytes per second) ends soon
    after its grace, whatever its size: the timeouts of `requests` limit a single read, which a
    server that sends a byte every two seconds never reaches.
    """

    def __init__(self, grace: float, least_rate: float) -> None:
        self.grace, self.least_rate = grace, least_rate
        self.gained = 0
        self._start = time.monotonic()

    @property
    def elapsed(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """The seconds that are left; negative if none are."""
        return self.grace + self.gained / self.least_rate - self.elapsed


def least_rate() -> float:
    """Return the bytes per second that a server must reach, by default 10,000; UsageError."""
    text = os.environ.get(RATE_VARIABLE, "10000")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise UsageError(
            f"{RATE_VARIABLE} is not a rate",
            expected="bytes per second, such as 1000",
            found=repr(text),
        )
    return float(text)


class _Files(HTTPAdapter):
    """Answers for file: URLs."""

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        path = Path(url2pathname(urlsplit(request.url or "").path))
        found = path.is_file()
        raw = urllib3.HTTPResponse(
            path.open("rb") if found and request.method == "GET" else io.BytesIO(),
            {"Content-Length": str(path.stat().st_size)} if found else {},
            status=200 if found else 404,
            reason="OK" if found else "no such file",
            preload_content=False,
            request_method=request.method,
        )
        return self.build_response(request, raw)


_local = threading.local()


def thread_session() -> requests.Session:
    """Return this thread's session: threads must not share one."""
    if not hasattr(_local, "session"):
        _local.session = session = requests.Session()
        session.headers["User-Agent"] = "theano-stacks"
        session.mount("file:", _Files())
        # requests would read all of an answer that redirects, and follow any address.
        session.get_redirect_target = lambda resp: None  # type: ignore[method-assign]
    found: requests.Session = _local.session
    return found


def check_address(url: str, what: str, fix: str) -> str:
    """Return an http or https URL; FetchError, `what` with the reason, if it is not one."""
    try:
        parts = urlsplit(url)
        # The port is parsed when it is read.
        _ = parts.port
    except ValueError as error:
        raise FetchError(f"{what}: it cannot be parsed: {error}", fix=fix) from error
    host = (parts.hostname or "").strip(".")
    # Parsers differ on where a host ends that a backslash follows.
    sound = host and url.isprintable() and "\\" not in parts.netloc
    if parts.scheme not in ("http", "https") or not sound:
        raise FetchError(
            what, expected="http or https, and the name of a host", found=public_url(url), fix=fix
        )
    return url


def redirect_target(
    origin: str, address: str, location: str, is_trusted: Callable[[str], bool]
) -> str:
    """Return the URL that the answer of `address` redirects to, with the header's `location`.

    Other schemes are refused, and http after https, as by apt, unless the target is trusted. User
    and password are sent to the same host only. Raises FetchError that names `origin`, the URL
    asked first.
    """
    what = f"{public_url(origin)}: redirected to an address that is refused"
    # http.client decodes headers as Latin-1; other letters in addresses are sent as UTF-8.
    location = location.encode("latin-1", "replace").decode("utf-8", "replace")
    if "\ufffd" in location or not location.isprintable():
        raise FetchError(what, found=ascii(public_url(location)[:200]), fix=OTHER_SERVER)
    asked = urlsplit(address)
    try:
        target = urljoin(address, location)
    except ValueError:
        target = location
    parts = urlsplit(check_address(target, what, OTHER_SERVER))
    if asked.scheme == "https" != parts.scheme and not is_trusted(target):
        raise FetchError(
            what, expected="https, as before", found=public_url(target), fix=OTHER_SERVER
        )
    return with_user(requests.utils.requote_uri(target), address)


def with_user(url: str, address: str) -> str:
    """Return a URL with the user and password of an address, if it is on the same host.

    After https they are not sent by http.
    """
    ours, theirs = urlsplit(address), urlsplit(url)
    user, at, host = ours.netloc.rpartition("@")
    if at and theirs.netloc == host and theirs.scheme in ("https", ours.scheme):
        return theirs._replace(netloc=f"{user}@{host}").geturl()
    return url
