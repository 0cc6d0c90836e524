"""The address that a server redirects to, checked before it is asked."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

import requests

from stacks.core.errors import FetchError
from stacks.sources.mirrors import public_url

OTHER_SERVER = "set another mirror or index, or ask the operator of this one"


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


def redirect_target(origin: str, address: str, location: str, *, trusted: bool = False) -> str:
    """Return the URL that the answer of `address` redirects to, with the header's `location`.

    Other schemes are refused, and http after https, as by apt, unless `trusted`. User and password
    are sent to the same host only. Raises FetchError that names `origin`, the URL asked first.
    """
    what = f"{public_url(origin)}: redirected to an address that is refused"
    # http.client decodes headers as Latin-1; other letters in addresses are sent as UTF-8.
    location = location.encode("latin-1", "replace").decode("utf-8", "replace")
    if "\ufffd" in location or not location.isprintable():
        raise FetchError(what, found=ascii(public_url(location)[:200]), fix=OTHER_SERVER)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", location):
        scheme = urlsplit(address).scheme
        target = f"{scheme}:{location}" if location.startswith("//") else location
    else:
        target = urljoin(address, location)
    check_address(target, what, OTHER_SERVER)
    if urlsplit(address).scheme == "https" != urlsplit(target).scheme and not trusted:
        raise FetchError(
            what, expected="https, as before", found=public_url(target), fix=OTHER_SERVER
        )
    return _with_user(requests.utils.requote_uri(target), address)


def _with_user(target: str, address: str) -> str:
    user, at, host = urlsplit(address).netloc.rpartition("@")
    parts = urlsplit(target)
    if not at or parts.netloc != host or parts.scheme not in ("https", urlsplit(address).scheme):
        return target
    return parts._replace(netloc=f"{user}@{parts.netloc}").geturl()
