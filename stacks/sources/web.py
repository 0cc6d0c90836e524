"""HTTP requests: certificates, proxies, credentials, and errors for people."""

from __future__ import annotations

import http.client
import os
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import requests
import urllib3

from stacks.core.errors import FetchError
from stacks.sources.connection import (
    OTHER_SERVER,
    Allowance,
    check_address,
    least_rate,
    redirect_target,
    thread_session,
)
from stacks.sources.mirrors import BUNDLES, check_access_files, public_url

# Gets a document's bytes by its URL and headers, and raises what it likes.
Get = Callable[[str, dict[str, str]], bytes]
# Bytes: a token, or what a registry says of itself.
LARGEST_REPLY = 1 << 20
MOST_REDIRECTS = 10
# Seconds.
LONGEST_CONNECT = 30.0
NO_ANSWER = "no answer in time"
SPELLING = "check the spelling of the mirror or index"
# What requests and urllib3 raise for a broken connection, a garbled answer or an address: not all
# of their errors have a common base.
BROKEN = (OSError, ValueError, urllib3.exceptions.HTTPError, http.client.HTTPException)


class MissingError(FetchError):
    """The server answered that it does not have the file."""


class TransientError(FetchError):
    """A failure that may not occur again; `after` is the server's Retry-After in seconds."""

    def __init__(self, what: str, *, after: float | None = None, **facts: str | None) -> None:
        super().__init__(what, **facts)
        self.after = after


class UnreachableError(TransientError):
    """No answer came at all, or it came too slowly: the rest of a run leaves the server out."""


class SilentError(UnreachableError):
    """No answer came in time."""


class StoppedError(Exception):
    """The work was stopped: another thread failed, or the user pressed ctrl-C.

    No StacksError, so that it is not taken for the failure of one place: it ends a thread.
    """


class Login(Protocol):
    """What adds to requests the tokens that a server wants."""

    def headers(self, url: str) -> dict[str, str]:
        """Return the header with the token for a URL, if there is one."""

    def answer(self, url: str, challenge: str, get: Get) -> bool:
        """Get what a server asks for in WWW-Authenticate; return whether there is any."""


@dataclass
class Server:
    """What a run has learnt of a server: whether it answered, failed, or was waited for."""

    answered: bool = False
    failure: FetchError | None = None
    noted: bool = False


@dataclass(frozen=True, kw_only=True)
class Web:
    """The access to servers: certificates, proxy, timeout (seconds), retries, least rate (bytes/s).

    tokens: those of a registry. quiet: whether the first wait prints no note. server: what was
    learnt of it; one that fails is left out for the rest of the run.
    A server below the least rate is left for the next one; up to eight downloads share a line. The
    library `requests` also uses the environment's proxies and ~/.netrc.
    """

    stop: threading.Event
    verify: str | bool = True
    client_cert: str | None = None
    proxy: str | None = None
    trusted_hosts: tuple[str, ...] = ()
    timeout: float = 15.0
    retries: int = 4
    least_rate: float = field(default_factory=least_rate)
    quiet: bool = False
    tokens: Login | None = field(default=None, compare=False)
    server: Server = field(default_factory=Server, compare=False)

    def allowance(self) -> Allowance:
        """Return the time for one file or document: four timeouts, and more for each byte."""
        return Allowance(4 * self.timeout, self.least_rate)

    def for_place(self, **changes: Any) -> Web:
        """Return the access to another mirror, index or channel, of which nothing is known yet.

        One host may serve several: a company's proxy for many archives does.
        """
        return replace(self, server=Server(), **changes)

    def trusts(self, url: str) -> bool:
        """Return whether the URL's host is one of the user's trusted hosts."""
        host = host_of(url)
        return bool({host, re.sub(r":\d*$", "", host).strip("[]")} & set(self.trusted_hosts))

    def get(
        self,
        url: str,
        headers: Mapping[str, str],
        allowance: Allowance,
        method: str = "GET",
        body: bytes | Path | None = None,
    ) -> requests.Response:
        """Request a URL once; the body of the answer is read from `.raw`, within the allowance.

        Raises MissingError, TransientError or FetchError, without passwords in the message.
        """
        address = url
        if not url.startswith("file:"):
            check_address(url, f"{public_url(url)} is not a valid address", SPELLING)
        asked_for_token = False
        for _ in range(MOST_REDIRECTS + 1):
            response = self._request(method, url, address, headers, allowance, body)
            self.server.answered = True
            if response.status_code == 401 and self.tokens and not asked_for_token:
                asked_for_token = True
                response.close()
                challenge = response.headers.get("WWW-Authenticate", "")
                if self.tokens.answer(
                    address, challenge, lambda realm, user: self._reply(realm, user, allowance)
                ):
                    continue
            if not response.is_redirect:
                resumes = response.status_code == 416 and "Range" in headers
                if 200 <= response.status_code < 300 or resumes:
                    return response
                with response:
                    raise _refused(_named(url, address), response)
            # Closed, not read: the body may have no end.
            response.close()
            target = redirect_target(url, address, response.headers["Location"], self.trusts)
            if host_of(target) != host_of(address):
                headers = {k: v for k, v in headers.items() if k != "Authorization"}
            address = target
        raise FetchError(
            f"{public_url(url)}: redirected more than {MOST_REDIRECTS} times", fix=OTHER_SERVER
        )

    def _reply(self, url: str, headers: dict[str, str], allowance: Allowance) -> bytes:
        """Return the bytes of a server of tokens."""
        with replace(self, tokens=None).get(url, headers, allowance) as response:
            try:
                return response.raw.read(LARGEST_REPLY, decode_content=True)
            except BROKEN as error:
                raise _unreachable(url, error, url) from error

    def _request(
        self,
        method: str,
        url: str,
        address: str,
        headers: Mapping[str, str],
        allowance: Allowance,
        body: bytes | Path | None,
    ) -> requests.Response:
        check_access_files(self.verify, self.client_cert)
        trusted = self.trusts(address)
        if trusted:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        headers = {**headers, **(self.tokens.headers(address) if self.tokens else {})}
        # Without it, requests prefers ~/.netrc to the header.
        given = (lambda request: request) if "Authorization" in headers else None
        limit = max(0.001, min(self.timeout, allowance.left))
        try:
            with body.open("rb") if isinstance(body, Path) else nullcontext(body) as data:
                return thread_session().request(
                    method,
                    address,
                    data=data,
                    headers=headers,
                    auth=given,
                    stream=True,
                    timeout=(min(limit, LONGEST_CONNECT), limit),
                    verify=False if trusted else self.verify,
                    cert=self.client_cert,
                    proxies={"http": self.proxy, "https": self.proxy} if self.proxy else None,
                )
        except BROKEN as error:
            raise _unreachable(url, error, address) from error


def environment_web(stop: threading.Event) -> Web:
    """Return the access to mirrors and channels: the environment's CA bundle and proxies."""
    return Web(stop=stop, verify=environment_bundle())


def environment_bundle() -> str | bool:
    """Return the CA bundle that the environment names, or True for the usual one."""
    for name in BUNDLES:
        if bundle := os.environ.get(name):
            return bundle
    return True


def host_of(url: str) -> str:
    """Return the host and port of any URL, without user and password."""
    return re.split(r"[/?#]", url.partition("//")[2], maxsplit=1)[0].rpartition("@")[2].lower()


def _named(url: str, address: str) -> str:
    where = f": redirected to {public_url(address)}" if address != url else ""
    return f"{public_url(url)}{where}"


def _unreachable(url: str, error: BaseException, address: str) -> FetchError:
    """Return the error for a failed request to a URL, or to where it was redirected."""
    what, host, reason = _named(url, address), host_of(address), reason_of(error)
    if isinstance(error, requests.exceptions.SSLError) or "certificate" in reason:
        return FetchError(
            f"{what}: no trusted connection to {host}: {reason}",
            fix="export SSL_CERT_FILE=<the CA bundle of your network>",
        )
    if isinstance(error, ValueError):
        return FetchError(f"{what} is not a valid address", fix=f"{SPELLING}, or {OTHER_SERVER}")
    if isinstance(error, OSError) and not isinstance(error, requests.RequestException):
        return FetchError(
            f"{what}: {reason}", fix="check it, or the CA bundle and the client certificate"
        )
    through = " through the proxy" if isinstance(error, requests.exceptions.ProxyError) else ""
    return (SilentError if reason == NO_ANSWER else UnreachableError)(
        f"{what}: {host} cannot be reached{through}: {reason}",
        fix="check the network, https_proxy and http_proxy; or set another mirror: DEBIAN_MIRROR "
        "for debs, conda's channel_alias for its packages, pip's index-url for the rest; without a "
        "network: THEANO_STACKS_VENDOR=<a folder that `./invoke vendor` wrote on another machine>",
    )


def reason_of(error: BaseException) -> str:
    """Return the text of the innermost cause: outer ones may contain the URL."""
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return NO_ANSWER
    innermost: BaseException | None = error
    text = ""
    while innermost is not None:
        if isinstance(innermost, OSError) and innermost.strerror:
            text = innermost.strerror
        innermost = innermost.__cause__ or innermost.__context__
    return re.sub(r"^\[.*?\]\s*|\s*\(_ssl\.c:\d+\)$", "", text) or "the connection broke"


def _refused(what: str, response: requests.Response) -> FetchError:
    reason = "".join(filter(str.isprintable, response.reason or ""))[:80]
    status = f"{what}: the server answered {response.status_code} {reason}".rstrip()
    if response.status_code in (404, 410):
        return MissingError(status)
    if response.status_code in (408, 425, 429) or response.status_code >= 500:
        return TransientError(
            status, fix="try again later, or " + OTHER_SERVER, after=_after(response)
        )
    fix = OTHER_SERVER
    if response.status_code in (401, 403, 407):
        fix = (
            "check the user and password for this server in your configuration, ~/.netrc or, for a "
            f"registry, by `docker login {host_of(response.url)}`"
        )
    text = b""
    if response.request.method not in ("GET", "HEAD"):
        # What was sent is refused for a reason that the status does not tell.
        with suppress(*BROKEN):
            text = response.raw.read(300)
    return FetchError(status, found=ascii(text.decode("latin-1")) if text else None, fix=fix)


def _after(response: requests.Response) -> float | None:
    """Return the seconds that a server asks to wait, None if it does not or is unclear."""
    try:
        return urllib3.Retry().get_retry_after(response.raw)
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return None
