"""The places that may have the channel's packages, in the order in which they are asked.

A vendored folder, published channels, and the releases of the checkout's own repository. A place
needs no trust: the lock fixes each package by its SHA-256.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from stacks.core import yamlfile
from stacks.core.console import display_path
from stacks.core.errors import FetchError, UsageError
from stacks.core.models import Line, Strict
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.sources.mirrors import public_url, valid_url
from stacks.sources.registry import Registry, is_registry, registry_at
from stacks.sources.vendored import VARIABLE, vendored_folder

CHANNEL = "THEANO_STACKS_CHANNEL"
# The committed list of published channels, in the checkout's folder.
COMMITTED = "channels.yaml"
# The release of a repository that has the packages and their list.
RELEASE = "channel"
LIST = "index.sha256"
# Where each forge has the files of a repository's release: its own documentation.
FORGES = {
    "github.com": "https://github.com/{repository}/releases/download/{release}",
    "codeberg.org": "https://codeberg.org/{repository}/releases/download/{release}",
    "gitlab.com": "https://gitlab.com/{repository}/-/releases/{release}/downloads",
}
_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@]*@)?|[^/@:]+@)"
    r"(?P<host>[^/:@]+)(?::[0-9]+(?=/))?[/:]"
    r"(?P<repository>[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)+)/?"
)


class Kind(Enum):
    """How a place names its files."""

    STATIC = "linux-64/FILE, noarch/FILE"
    RELEASE = "FILE, and a list of them"
    REGISTRY = "the SHA-256 of each package"


@dataclass(frozen=True)
class Place:
    """A place that may have packages: its address without a final slash.

    configured: whether a person named it, and so wants to know if it fails.
    """

    address: str
    kind: Kind = Kind.STATIC
    configured: bool = True

    @property
    def name(self) -> str:
        """The address for messages, without a password."""
        folder = self.folder
        return display_path(folder) if folder else public_url(self.address)

    @property
    def folder(self) -> Path | None:
        """The folder, if the place is one of this machine."""
        if not self.address.startswith("file:"):
            return None
        return Path(url2pathname(urlsplit(self.address).path))

    @property
    def registry(self) -> Registry | None:
        """The registry, if the place is one."""
        return registry_at(self.address, self.address) if self.kind is Kind.REGISTRY else None

    def url(self, subdir: str, file_name: str, sha256: str) -> str:
        """Return the address of a package."""
        if registry := self.registry:
            return registry.blob(subdir, file_name.rsplit("-", 2)[0], sha256)
        folder = "" if self.kind is Kind.RELEASE else f"{subdir}/"
        return f"{self.address}/{folder}{quote(file_name, safe='+!')}"

    @property
    def list_url(self) -> str:
        """Return the address of the list of a release's files."""
        return f"{self.address}/{LIST}"


class _Channels(Strict):
    """channels.yaml."""

    channels: tuple[Line, ...]


def places_of(workspace: Workspace) -> tuple[Place, ...]:
    """Return the places to ask, each once.

    THEANO_STACKS_VENDOR, THEANO_STACKS_CHANNEL, channels.yaml, then the releases of the git remote
    if it is on a known forge. Raises UsageError for an address that cannot be one.
    """
    places: dict[str, Place] = {}
    for place in _all(workspace):
        places.setdefault(place.address, place)
    return tuple(places.values())


def _all(workspace: Workspace) -> Iterator[Place]:
    if vendored := vendored_folder():
        yield place_at(str(vendored / "channel"), VARIABLE)
    for address in re.split(r"[\s,]+", os.environ.get(CHANNEL, "")):
        if address:
            yield place_at(address, CHANNEL)
    committed = workspace.root / COMMITTED
    if committed.exists():
        for address in yamlfile.load(committed, _Channels).channels:
            yield place_at(address, COMMITTED)
    remote = _git_remote(workspace.root)
    if remote and (address := release_address(remote)):
        yield Place(address, Kind.RELEASE, configured=False)


def place_at(address: str, where: str) -> Place:
    """Return the place at an address, which was set `where`; UsageError if it cannot be one."""
    if is_registry(address):
        registry_at(address, where)
        return Place(address.rstrip("/"), Kind.REGISTRY)
    if re.match(r"https?://", address):
        try:
            host = urlsplit(valid_url(address, where)).hostname
        except FetchError as error:
            raise UsageError(error.what, fix=error.fix) from error
        if host:
            return Place(address.rstrip("/"))
    elif re.match(r"file:/", address):
        return Place(Path(url2pathname(urlsplit(address).path)).as_uri())
    elif not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", address):
        return Place(Path(address).expanduser().absolute().as_uri())
    raise UsageError(
        f"{where} has an address that cannot be used",
        expected="a folder, file:, http://, https:// or oci://HOST/NAME",
        found=public_url(address),
        fix="correct it, or leave it out",
    )


def release_address(remote: str) -> str | None:
    """Return where the release of a git remote's repository is, None if its forge is not known."""
    match = _REMOTE.fullmatch(remote)
    template = FORGES.get(match["host"].lower()) if match else None
    if match is None or template is None:
        return None
    return template.format(repository=match["repository"].removesuffix(".git"), release=RELEASE)


def _git_remote(root: Path) -> str | None:
    """Return the address of the checkout's remote `origin`, None if there is none."""
    # A folder in another repository must not take that one's remote.
    if not (root / ".git").exists():
        return None
    try:
        return call(["git", "-C", root, "remote", "get-url", "origin"], limit=5).strip()
    except CommandError:
        return None
