"""The places that may have the channel's packages, in the order in which they are asked.

A vendored folder, published channels, and the releases of the checkout's own repository. A place
needs no trust: the lock fixes each package by its SHA-256.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from stacks.core import yamlfile
from stacks.core.console import display_path
from stacks.core.errors import FetchError, UsageError
from stacks.core.models import Line, Strict
from stacks.core.paths import expanded
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.sources.mirrors import public_url, valid_url
from stacks.sources.pins import CondaPin
from stacks.sources.registry import Registry, Tokens, is_registry, registry_at
from stacks.sources.vendored import vendored_folder
from stacks.sources.web import Web

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


@dataclass(frozen=True)
class Place:
    """A place that may have packages: its address without a final slash.

    It is a static channel with folders for the subdirs, a `registry`, or a `release` of a
    repository: one folder with a list of its files. configured: whether a person named it, and so
    wants to know if it fails.
    """

    address: str
    registry: Registry | None = None
    release: bool = False
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
    def root(self) -> str:
        """The beginning of all addresses of the place's files."""
        return self.registry.root if self.registry else self.address

    def url(self, subdir: str, package: CondaPin) -> str:
        """Return the address of a package."""
        if self.registry:
            return self.registry.blob(subdir, package.name, package.sha256)
        folder = "" if self.release else f"{subdir}/"
        return f"{self.address}/{folder}{quote(package.filename, safe='+!')}"

    def access(self, web: Web) -> Web:
        """Return an access to servers as an access to this place."""
        tokens = Tokens(self.registry) if self.registry else None
        return replace(web, roots=(self.root,), tokens=tokens)

    @property
    def list_url(self) -> str:
        """The address of a release's list."""
        return f"{self.address}/{LIST}"


class _Channels(Strict):
    """channels.yaml."""

    channels: tuple[Line, ...]


def places_of(workspace: Workspace) -> tuple[Place, ...]:
    """Return the places to ask, each once.

    THEANO_STACKS_VENDOR, THEANO_STACKS_CHANNEL, channels.yaml, then the releases of the git remote
    if it is on a known forge. Raises UsageError for an address that cannot be one, and if there is
    no vendored folder.
    """
    places: dict[str, Place] = {}
    for place in _all(workspace):
        places.setdefault(place.address, place)
    return tuple(places.values())


def _all(workspace: Workspace) -> Iterator[Place]:
    if folder := vendored_folder():
        yield Place((folder / "channel").as_uri())
    for address in re.split(r"[\s,]+", os.environ.get(CHANNEL, "")):
        if address:
            yield place_at(address, CHANNEL)
    committed = workspace.root / COMMITTED
    if committed.exists():
        for address in yamlfile.load(committed, _Channels).channels:
            yield place_at(address, COMMITTED)
    remote = _git_remote(workspace.root)
    if remote and (address := release_address(remote)):
        yield Place(address, release=True, configured=False)


def place_at(address: str, where: str) -> Place:
    """Return the place at an address, which was set `where`; UsageError if it cannot be one."""
    if is_registry(address):
        return Place(address.rstrip("/"), registry_at(address, where))
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
        return Place(expanded(address).absolute().as_uri())
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
