"""Other channels: which one a name or an address means, and how it is reached.

Both are as conda itself is configured: ~/.condarc and conda's other files, CONDA_* and CONDARC.
The code of conda that reads them comes with conda-lock, and with it conda's own default.
"""

from __future__ import annotations

import importlib
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from stacks.core.errors import UsageError
from stacks.sources.web import Web, environment_web


@dataclass(frozen=True)
class ChannelAddress:
    """A channel: its name as locks have it (an address where it has no name), and its address."""

    name: str
    url: str

    @property
    def label(self) -> str:
        """What it is called in the names of variants and folders."""
        parts = urlsplit(self.name)
        return re.sub(r"[^a-z0-9.]+", "-", f"{parts.netloc}{parts.path}".lower()).strip("-.")


def channel_address(channel: str) -> ChannelAddress:
    """Return where a channel is; UsageError where that is no address of a conda channel."""
    with _told(f"the channel {_without_secrets(channel)!r} cannot be found"):
        found = _conda().models_channel.Channel(channel)
        name, urls = str(found.canonical_name), [str(url) for url in found.base_urls]
        secret = found.auth or found.token
    if secret:
        raise UsageError(
            f"{_without_secrets(channel)}: a lock would have the password of this address in it",
            expected="the address without user, password and token",
            fix="put them into ~/.netrc",
        )
    if not name or len(urls) != 1 or not re.match(r"(https?://|file:///)[^/]", urls[0]):
        raise UsageError(
            f"{channel!r} is not one conda channel",
            expected="a name, such as conda-forge, or an address: http, https or file",
            found=", ".join(urls) or "nothing",
        )
    return ChannelAddress(name, urls[0])


def conda_web(stop: threading.Event, url: str) -> Web:
    """Return the way to a channel's server: as conda is configured, else as the environment says.

    That is ssl_verify, client_ssl_cert, proxy_servers and remote_max_retries.
    """
    with _told("conda's configuration cannot be read"):
        context = _conda().base_context.context
        parts = urlsplit(url)
        proxies = dict(context.proxy_servers)
        verify, retries = context.ssl_verify, int(context.remote_max_retries)
        certificate = context.client_ssl_cert
    web = environment_web(stop)
    return Web(
        stop=stop,
        # True, and `truststore` of conda's, mean that nothing particular was said.
        verify=verify if isinstance(verify, str) and verify != "truststore" else web.verify,
        client_cert=certificate or None,
        proxy=proxies.get(f"{parts.scheme}://{parts.hostname}") or proxies.get(parts.scheme),
        trusted_hosts=(parts.hostname or "",) if verify is False else (),
        retries=retries,
    )


@dataclass(frozen=True)
class _Conda:
    base_context: Any
    models_channel: Any


def _conda() -> _Conda:
    """Return the modules of conda that are needed, its configuration read anew."""
    with warnings.catch_warnings():
        # It warns of conda's own plans.
        warnings.simplefilter("ignore")
        context: Any = importlib.import_module("conda_lock._vendor.conda.base.context")
        channel: Any = importlib.import_module("conda_lock._vendor.conda.models.channel")
    context.reset_context()
    return _Conda(context, channel)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Turn whatever conda says of its configuration, or of an address, into a UsageError."""
    try:
        yield
    except Exception as error:  # conda has no class for all of them
        raise UsageError(
            what,
            found=" ".join(str(error).split()),
            fix="look at the address, at ~/.condarc, and at CONDARC and CONDA_CHANNEL_ALIAS",
        ) from error


def _without_secrets(url: str) -> str:
    return re.sub(r"//[^/@]*@|/t/[^/]+", lambda m: "//" if m[0].startswith("//") else "/t/***", url)
