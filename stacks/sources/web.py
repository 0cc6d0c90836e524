"""HTTP requests: certificates, proxies, credentials, and errors for people."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import requests
import urllib3

from stacks.core.errors import FetchError
from stacks.sources.mirrors import PipSettings, public_url

_local = threading.local()


class MissingError(FetchError):
    """The server answered that it does not have the file."""


class TransientError(FetchError):
    """A failure that may not occur again; `after` is the server's Retry-After in seconds."""

    def __init__(self, what: str, *, fix: str | None = None, after: float | None = None) -> None:
        super().__init__(what, fix=fix)
        self.after = after


class StoppedError(FetchError):
    """The work was stopped: another thread failed, or the user pressed ctrl-C."""


@dataclass(frozen=True, kw_only=True)
class Web:
    """The access to servers: certificates, proxy, timeout (seconds), retries.

    The library `requests` also uses the environment's proxies and ~/.netrc.
    """

    stop: threading.Event
    verify: str | bool = True
    client_cert: str | None = None
    proxy: str | None = None
    trusted_hosts: tuple[str, ...] = ()
    timeout: float = 15.0
    retries: int = 4
    noted_hosts: set[str] = field(default_factory=set, compare=False)

    def trusts(self, url: str) -> bool:
        """Return whether the URL's host is one of the user's trusted hosts."""
        return bool({urlsplit(url).hostname, host_of(url)} & set(self.trusted_hosts))

    def get(self, url: str, headers: dict[str, str]) -> requests.Response:
        """Request a URL once; the body is read from `.raw`.

        Raises MissingError, TransientError or FetchError, without passwords in the message.
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
            raise unreachable(url, error) from error
        if response.ok or response.status_code == 416:
            return response
        response.close()
        raise _refused(url, response)


def environment_web(stop: threading.Event) -> Web:
    """Return the access to Debian's mirrors: the environment's CA bundle and proxies."""
    return Web(stop=stop, verify=_environment_bundle())


def pip_web(stop: threading.Event, settings: PipSettings) -> Web:
    """Return the access to package indexes as pip is configured, else as the environment is."""
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
    # Threads must not share a session.
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
        _local.session.headers["User-Agent"] = "theano-stacks"
    session: requests.Session = _local.session
    return session


def host_of(url: str) -> str:
    """Return the host and port of a URL, without user and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def unreachable(url: str, error: BaseException) -> FetchError:
    """Return the error for a failed request; its message has no password."""
    host = host_of(url)
    reason = reason_of(error)
    if isinstance(error, requests.exceptions.SSLError) or "certificate" in reason:
        return FetchError(
            f"{public_url(url)}: no trusted connection to {host}: {reason}",
            fix="export SSL_CERT_FILE=<the CA bundle of your network>",
        )
    if isinstance(error, ValueError):
        return FetchError(
            f"{public_url(url)} is not a valid address",
            fix="check the spelling of the mirror or index",
        )
    if isinstance(error, OSError) and not isinstance(error, requests.RequestException):
        return FetchError(
            f"{public_url(url)}: {reason}", fix="check the CA bundle and the client certificate"
        )
    through = " through the proxy" if isinstance(error, requests.exceptions.ProxyError) else ""
    return TransientError(
        f"{public_url(url)}: {host} cannot be reached{through}: {reason}",
        fix="check the network, https_proxy and http_proxy; or set another mirror: "
        "DEBIAN_MIRROR for debs, conda's channel_alias for its packages, pip's index-url for the "
        "rest",
    )


def reason_of(error: BaseException) -> str:
    """Return the text of the innermost cause: outer ones may contain the URL."""
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
    status = f"{public_url(url)}: the server answered {response.status_code} {response.reason}"
    if response.status_code in (404, 410):
        return MissingError(status)
    if response.status_code in (408, 425, 429) or response.status_code >= 500:
        try:
            after = urllib3.Retry().get_retry_after(response.raw)
        except urllib3.exceptions.InvalidHeader:
            after = None
        return TransientError(status, fix="try again later, or set another mirror", after=after)
    return FetchError(
        status, fix="check the user and password for this server in your configuration or ~/.netrc"
    )
