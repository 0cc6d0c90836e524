"""The address of a channel and the access to its server, from conda's own configuration.

That is ~/.condarc and conda's other files, CONDA_* and CONDARC. The code of conda that reads them
comes with conda-lock, with conda's own default. It is half of all packages of the tools, and is
installed when it is first needed: building from a lock needs none of it.
"""

import hashlib
import importlib
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import LOCKING_LOCK, prepare_tools
from stacks.sources.mirrors import pip_options
from stacks.sources.web import Web, environment_web


def prepare_conda_lock() -> None:
    """Install conda-lock into the running venv if it is missing. Raises CommandError."""
    prepare_tools(LOCKING_LOCK, options=pip_options())


@dataclass(frozen=True)
class ChannelAddress:
    """A channel's address, and its name as in locks (the address if it has no name)."""

    name: str
    url: str

    @property
    def label(self) -> str:
        """The name in names of variants and folders: another one for each channel.

        A simple name, such as conda-forge, is its own label; any other has a part of its hash.
        """
        if re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", self.name):
            return self.name
        parts = urlsplit(self.name)
        plain = re.sub(r"[^a-z0-9.]+", "-", f"{parts.netloc}{parts.path}".lower()).strip("-.")
        return f"{plain}-{hashlib.sha256(self.name.encode()).hexdigest()[:6]}".strip("-")


def channel_address(channel: str) -> ChannelAddress:
    """Return the address of a channel, by its name or address.

    Raises UsageError if it does not lead to one conda channel.
    """
    with _explain_conda_errors(f"the channel {_without_secrets(channel)!r} cannot be found"):
        parsed = _conda()[1].Channel(channel)
        name, urls = str(parsed.canonical_name), [str(url) for url in parsed.base_urls]
        secret = parsed.auth or parsed.token
    if secret:
        raise UsageError(
            f"{_without_secrets(channel)}: a lock would contain the password of this address",
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
    """Return the access to a channel's server as conda is configured, else as the environment is.

    Read are ssl_verify, client_ssl_cert, proxy_servers and remote_max_retries.
    """
    with _explain_conda_errors("conda's configuration cannot be read"):
        context = _conda()[0].context
        parts = urlsplit(url)
        proxies = dict(context.proxy_servers)
        verify, retries = context.ssl_verify, int(context.remote_max_retries)
        certificate = context.client_ssl_cert
    web = environment_web(stop)
    return Web(
        stop=stop,
        # True and `truststore` are conda's ways to leave it to the environment.
        verify=verify if isinstance(verify, str) and verify != "truststore" else web.verify,
        client_cert=certificate or None,
        proxy=proxies.get(f"{parts.scheme}://{parts.hostname}") or proxies.get(parts.scheme),
        trusted_hosts=(parts.hostname or "",) if verify is False else (),
        retries=retries,
    )


def _conda() -> tuple[Any, Any]:
    """Return conda's modules of its configuration, read again, and of channels."""
    prepare_conda_lock()
    with warnings.catch_warnings():
        # The import warns of deprecations within conda.
        warnings.simplefilter("ignore")
        context: Any = importlib.import_module("conda_lock._vendor.conda.base.context")
        channel: Any = importlib.import_module("conda_lock._vendor.conda.models.channel")
    context.reset_context()
    return context, channel


@contextmanager
def _explain_conda_errors(what: str) -> Iterator[None]:
    """Turn an error of conda about its configuration or an address into a UsageError."""
    try:
        yield
    except StacksError:
        raise
    except Exception as error:  # conda has no class for all of them
        raise UsageError(
            what,
            found=" ".join(str(error).split()),
            fix="check the address, ~/.condarc, CONDARC and CONDA_CHANNEL_ALIAS",
        ) from error


def _without_secrets(url: str) -> str:
    return re.sub(r"//[^/@]*@|/t/[^/]+", lambda m: "//" if m[0].startswith("//") else "/t/***", url)
