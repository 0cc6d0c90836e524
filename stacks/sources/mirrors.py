"""Where the user has pinned files: the indexes of pip's configuration, a vendored folder.

`./invoke vendor` writes that folder. It has the layout of the cache below `sources/`, a channel
below `channel/`, and the wheels of the tools in `tools/`.
"""

import ast
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from stacks.core.errors import FetchError, UsageError
from stacks.core.paths import check_is_file, expanded
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pin, cached_path

VARIABLE = "THEANO_STACKS_VENDOR"
# In a vendored folder: the packages, the tools' wheels, and the digests of all other files.
CHANNEL, TOOLS, DIGESTS = "channel", "tools", "vendor.sha256"
# Files that programs read before they ask a server, and the fix for one that is not a file.
PIP_FILES = ("~/.config/pip/pip.conf", "~/.pip/pip.conf")
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
ACCESS_FIX = "put a file there, or correct what names it, such as pip's cert or SSL_CERT_FILE"


@dataclass(frozen=True, kw_only=True)
class PipSettings:
    """The part of pip's configuration for finding and fetching files; the timeout is in seconds."""

    index_urls: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = 15.0
    retries: int = 5


def check_access_files(*files: str | bool | None) -> None:
    """Raise UsageError for a certificate, a ~/.netrc and the like that is a pipe, socket or device.

    Who reads a pipe may wait for ever, pip and uv too. A CA bundle may be a folder.
    """
    for file in (*files, os.environ.get("NETRC") or "~/.netrc"):
        if isinstance(file, str):
            path = Path(os.path.expanduser(file))  # noqa: PTH111
            check_is_file(path, file, fix=ACCESS_FIX, folder=True)


def public_url(url: str) -> str:
    """Return a URL or path for messages: without user, password, query and fragment.

    It may be one that cannot be parsed, and may come from a server: control characters are quoted.
    """
    address = re.split(r"[?#]", url, maxsplit=1)[0]
    address = re.sub(r"//[^/]*@", "//", address, count=1)
    return re.sub(r"[^\x20-\x7e]", lambda letter: quote(letter[0]), address)


def valid_url(url: str, where: str) -> str:
    """Return a URL; FetchError, which names `where` it was set, if it cannot be parsed."""
    try:
        urlsplit(url)
    except ValueError as error:
        raise FetchError(
            f"{where}: the address cannot be parsed: {error}", fix="check its spelling"
        ) from error
    return url


def pip_settings() -> PipSettings:
    """Read pip's configuration: its files, its PIP_* variables, its default index.

    Raises FetchError if this Python has no pip, or pip rejects its configuration.
    """
    named = (os.environ.get(name) for name in ("PIP_CONFIG_FILE", *BUNDLES))
    check_access_files(*PIP_FILES, *named)
    try:
        # -I: the user's folder may have a random.py.
        listing = call([sys.executable, "-I", "-m", "pip", "--no-input", "config", "list"])
    except CommandError as error:
        raise FetchError(
            f"pip's configuration cannot be read: {error.what}",
            fix=f"`{sys.executable} -m pip config debug` shows where its settings come from",
        ) from error
    options: dict[str, str] = {}
    ranks = ("global.", "install.", ":env:.")
    lines = [line.partition("=") for line in listing.splitlines() if "=" in line]
    for rank in ranks:
        options |= {
            key.removeprefix(rank): str(ast.literal_eval(value))
            for key, _, value in lines
            if key.startswith(rank)
        }
    # Loaded here, where it is known to be there: only pip knows its own default.
    from pip._internal.models.index import PyPI

    chosen = options.get("index-url") or str(PyPI.simple_url)
    indexes = [chosen, *options.get("extra-index-url", "").split()]
    if options.get("no-index", "").lower() in ("1", "true", "yes", "on", "y", "t"):
        indexes = []
    check_access_files(options.get("cert"), options.get("client-cert"))
    return PipSettings(
        index_urls=tuple(valid_url(url, "pip's index-url") for url in dict.fromkeys(indexes)),
        find_links=tuple(map(_find_links, options.get("find-links", "").split())),
        trusted_hosts=tuple(options.get("trusted-host", "").split()),
        cert=options.get("cert") or None,
        client_cert=options.get("client-cert") or None,
        proxy=options.get("proxy") or None,
        timeout=float(options.get("timeout") or options.get("default-timeout") or 15),
        retries=int(options.get("retries") or 5),
    )


def _find_links(text: str) -> str:
    """Return a URL, or the absolute path of a file or folder: others run in other folders."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
        return valid_url(text, "pip's find-links")
    return str(expanded(text).absolute())


def vendored_folder() -> Path | None:
    """Return the folder that THEANO_STACKS_VENDOR names, None if it is not set.

    Raises UsageError if there is no such folder.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    folder = expanded(text).absolute()
    if not folder.is_dir():
        raise UsageError(
            f"{VARIABLE} names no folder",
            found=text,
            fix="correct it, or unset it; `./invoke vendor DIR` writes one",
        )
    return folder


def pip_options() -> list[str]:
    """Return the options by which pip takes the tools' wheels from the vendored folder, if any."""
    folder = vendored_folder()
    return ["--no-index", "--find-links", str(folder / TOOLS)] if folder else []


def vendored_path(folder: Path, pin: Pin) -> Path:
    """Return the path of a pinned file in a vendored folder, whether or not it is there."""
    return cached_path(Workspace(folder, folder), pin)
