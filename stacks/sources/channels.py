"""The published channels that may have packages ready, in the order in which they are asked.

A vendored folder, configured channels, and the releases of the checkout's repository.
"""

from __future__ import annotations

import os
import queue
import re
import threading
from collections.abc import Callable, Iterator
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
from stacks.sources.download import get_document
from stacks.sources.mirrors import public_url, valid_url, vendored_folder
from stacks.sources.pins import CondaPin, Pin
from stacks.sources.places import Place
from stacks.sources.registry import Registry, Tokens, is_registry, registry_at
from stacks.sources.web import Web, environment_web, host_of

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


# Seconds, and tries after the first: another place or the sources can take over.
TIMEOUT, RETRIES = 5.0, 1
# Seconds: the list of a release that nobody asked for must not hold up a machine without network.
LONGEST_LOOKUP = 2.0
LARGEST_LIST = 1 << 20


@dataclass(frozen=True)
class PublishedChannel:
    """A channel that may have packages: its address without a final slash.

    It is a static channel with folders for the subdirs, a `registry`, or a `release` of a
    repository: one folder with a list of its files. configured: whether a user named it, and so
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

    def url(self, package: CondaPin) -> str:
        """Return the address of a package, whose first URL is its path in a channel."""
        subdir = package.urls[0].partition("/")[0]
        if self.registry:
            return self.registry.blob(subdir, package.name, package.sha256)
        folder = "" if self.release else f"{subdir}/"
        return f"{self.address}/{folder}{quote(package.filename, safe='+!')}"

    def quick_place(self, stop: threading.Event) -> Place:
        """Return the channel as a place that is given up soon, as others can take over."""
        retries = RETRIES if self.configured else 0
        web = replace(environment_web(stop), timeout=TIMEOUT, retries=retries)
        return self.place(web, LONGEST_LOOKUP)

    def place(self, web: Web, longest: float | None = None) -> Place:
        """Return the channel as a place of packages, with an access to servers.

        longest: seconds in which a release must answer; None for as long as the access waits.
        """
        tokens = Tokens(self.registry) if self.registry else None
        # The caller warns once: no note of the first wait for the server.
        noted = {*web.noted_hosts, host_of(self.root)}
        access = replace(web, roots=(self.root,), tokens=tokens, noted_hosts=noted)

        def urls(pin: Pin) -> list[str]:
            assert isinstance(pin, CondaPin)
            return [self.url(pin)]

        def check() -> None:
            if self.release:
                url = f"{self.address}/{LIST}"
                if longest is None:
                    get_document(access, url, "*/*", LARGEST_LIST)
                    return
                quick = replace(access, retries=0)
                _within(longest, lambda: get_document(quick, url, "*/*", LARGEST_LIST))
            elif self.folder and not self.folder.is_dir():
                raise FetchError(f"{self.name}: no such folder")

        return Place(self.name, access, (CondaPin,), urls, check, warns=self.configured)


def _within(seconds: float, work: Callable[[], object]) -> None:
    """Do some work; FetchError if it takes longer. A look-up of a name has no limit of its own."""
    ends: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def run() -> None:
        try:
            work()
            ends.put(None)
        except BaseException as error:  # raised in the caller's thread
            ends.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        error = ends.get(timeout=seconds)
    except queue.Empty:
        raise FetchError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error


class _Channels(Strict):
    """channels.yaml."""

    channels: tuple[Line, ...]


def published_channels(workspace: Workspace) -> tuple[PublishedChannel, ...]:
    """Return the channels to ask, each once.

    THEANO_STACKS_VENDOR, THEANO_STACKS_CHANNEL, channels.yaml, then the releases of the git remote
    if it is on a known forge. Raises UsageError for an address that cannot be one, and if there is
    no vendored folder.
    """
    channels: dict[str, PublishedChannel] = {}
    for each in _all(workspace):
        channels.setdefault(each.address, each)
    return tuple(channels.values())


def _all(workspace: Workspace) -> Iterator[PublishedChannel]:
    if folder := vendored_folder():
        yield PublishedChannel((folder / "channel").as_uri())
    for address in re.split(r"[\s,]+", os.environ.get(CHANNEL, "")):
        if address:
            yield channel_at(address, CHANNEL)
    committed = workspace.root / COMMITTED
    if committed.exists():
        for address in yamlfile.load(committed, _Channels).channels:
            yield channel_at(address, COMMITTED)
    remote = _git_remote(workspace.root)
    if remote and (address := release_address(remote)):
        yield PublishedChannel(address, release=True, configured=False)


def channel_at(address: str, where: str) -> PublishedChannel:
    """Return the channel at an address, which was set `where`; UsageError if it cannot be one."""
    if is_registry(address):
        return PublishedChannel(address.rstrip("/"), registry_at(address, where))
    if re.match(r"https?://", address):
        try:
            host = urlsplit(valid_url(address, where)).hostname
        except FetchError as error:
            raise UsageError(error.what, fix=error.fix) from error
        if host:
            return PublishedChannel(address.rstrip("/"))
    elif re.match(r"file:/", address):
        return PublishedChannel(Path(url2pathname(urlsplit(address).path)).as_uri())
    elif not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", address):
        return PublishedChannel(expanded(address).absolute().as_uri())
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
