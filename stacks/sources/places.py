"""The places that may have pinned files: a vendored folder, mirrors, package indexes, channels.

Published channels are asked in this order: a vendored folder, configured channels, the release of
the checkout's repository. Which places still have which file is asked without a download.

A place needs no trust: each pin fixes its file's size and SHA-256.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from stacks.core import yamlfile
from stacks.core.console import display_path
from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.models import Line, Strict
from stacks.core.paths import expanded
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.sources.download import get_document, size_at
from stacks.sources.mirrors import VARIABLE as VENDOR
from stacks.sources.mirrors import public_url, vendored_folder
from stacks.sources.package_index import indexes_of, pip_settings
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import DebPin, IndexPin, LockedPackage, Pin, cached_path
from stacks.sources.registry import Tokens, is_registry, registry_at
from stacks.sources.web import MissingError, TransientError, Web, environment_web

CHANNEL = "THEANO_STACKS_CHANNEL"
# The committed list of published channels, in the checkout's folder.
COMMITTED = "channels.yaml"
# The list of the packages in the release `channel` of a repository.
LIST = "index.sha256"
# Where GitHub has the files of that release; `.github/workflows/channel.yml` writes it.
ADDRESS = "https://github.com/{repository}/releases/download/channel"
_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@]*@)?|[^/@:]+@)github\.com(?::[0-9]+(?=/))?[/:]"
    r"(?P<repository>[A-Za-z0-9._-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?",
    re.IGNORECASE,
)

# Seconds, and tries after the first: another place or the sources can take over.
TIMEOUT, RETRIES = 5.0, 1
# Seconds, once: a release that nobody asked for must not hold up a machine without network.
TIMEOUT_OF_RELEASE = 2.0
LARGEST_LIST = 1 << 20


@dataclass(frozen=True)
class Place:
    """A place that may have some of the pinned files.

    name: its address for messages. kinds: of pins that it may have. urls: returns the addresses to
    try for a file; raises NotListedError, IntegrityError if the place lists other bytes under the
    file's name, FetchError if it cannot be asked. check: raises FetchError if the place as a whole
    is not available, MissingError if it does not exist. warns: whether its failures are printed as
    warnings: a user named the place, and others can take over.
    """

    name: str
    web: Web
    kinds: tuple[type[Pin], ...]
    urls: Callable[[Any], Sequence[str]]
    check: Callable[[], None] = lambda: None
    warns: bool = False


def mirror_place(web: Web, root: str) -> Place:
    """Return the place that a mirror of Debian's archive is, by its root."""
    return Place(public_url(root), web.for_place(), (DebPin,), lambda pin: [f"{root}/{pin.path}"])


def index_places(stop: threading.Event) -> list[Place]:
    """Return the indexes and the find-links of pip's configuration, in pip's order."""
    indexes = indexes_of(stop, pip_settings())
    return [Place(public_url(x.address), x.web, (IndexPin,), x.urls) for x in indexes]


def locked_places(web: Web, pins: Sequence[LockedPackage]) -> list[Place]:
    """Return the places of packages of another channel: each package's first address, then more."""

    def place(number: int) -> Place:
        def urls(pin: LockedPackage) -> Sequence[str]:
            return pin.urls[number : number + 1]

        folders = (url.rpartition("/")[0] for pin in pins for url in urls(pin))
        name = ", ".join(dict.fromkeys(map(public_url, folders)))
        return Place(name, web.for_place(), (LockedPackage,), urls)

    return [place(number) for number in range(max(len(pin.urls) for pin in pins))]


def vendored_places(stop: threading.Event) -> list[Place]:
    """Return the vendored folder as the place of pinned files; none if it is not set."""
    folder = vendored_folder()
    if folder is None:
        return []

    def urls(pin: Pin) -> Sequence[str]:
        return [cached_path(folder, pin).as_uri()]

    kinds = (DebPin, IndexPin, LockedPackage)
    return [Place(f"{folder}/sources", environment_web(stop), kinds, urls, warns=True)]


class _Channels(Strict):
    """channels.yaml."""

    channels: tuple[Line, ...]


def published_places(workspace: Workspace, web: Web | None = None) -> list[Place]:
    """Return the channels to ask as places of packages, each once.

    THEANO_STACKS_VENDOR, THEANO_STACKS_CHANNEL, channels.yaml, then the release of the git remote
    if it is on GitHub. web: the access to servers; by default one that gives a channel up
    soon, as others can take over. Raises UsageError for an address that cannot be one, and if there
    is no vendored folder.
    """
    places: dict[str, Place] = {}
    for place in _places(workspace, web):
        places.setdefault(place.name, place)
    return list(places.values())


def _places(workspace: Workspace, web: Web | None) -> Iterator[Place]:
    quick = replace(environment_web(threading.Event()), timeout=TIMEOUT, retries=RETRIES)
    access = web or quick
    if folder := vendored_folder():
        yield channel_at(str(folder / "channel"), VENDOR, access)
    for address in re.split(r"[\s,]+", os.environ.get(CHANNEL, "")):
        if address:
            yield channel_at(address, CHANNEL, access)
    committed = workspace.root / COMMITTED
    if committed.exists():
        for address in yamlfile.load(committed, _Channels).channels:
            yield channel_at(address, COMMITTED, access)
    remote = _git_remote(workspace.root)
    if remote and (address := release_address(remote)):
        yield release_at(address, web or replace(quick, timeout=TIMEOUT_OF_RELEASE, retries=0))


def channel_at(address: str, where: str, web: Web) -> Place:
    """Return the channel at an address, which was set `where`; UsageError if it cannot be one.

    It is a static channel with folders for the subdirs, or in a registry.
    """
    # The caller warns once: no note of the first wait for the server.
    access = web.for_place(quiet=True)
    if is_registry(address):
        registry = registry_at(address, where)
        access = replace(access, tokens=Tokens(registry))

        def blob(pin: LockedPackage) -> list[str]:
            return [registry.blob(pin.subdir, pin.name, pin.sha256)]

        return Place(public_url(address.rstrip("/")), access, (LockedPackage,), blob, warns=True)
    root = _checked(address, where).rstrip("/")
    folder = Path(url2pathname(urlsplit(root).path)) if root.startswith("file:") else None

    def url(pin: LockedPackage) -> list[str]:
        return [f"{root}/{pin.subdir}/{quote(pin.filename, safe='+!')}"]

    def check() -> None:
        if folder and not folder.is_dir():
            raise FetchError(f"{display_path(folder)}: no such folder")

    name = display_path(folder) if folder else public_url(root)
    return Place(name, access, (LockedPackage,), url, check, warns=True)


def release_at(address: str, web: Web) -> Place:
    """Return the release at an address as a place: one folder with a list of its files.

    Nobody named it: that it fails costs no warning.
    """
    access = web.for_place(quiet=True)

    def url(pin: LockedPackage) -> list[str]:
        return [f"{address}/{quote(pin.filename, safe='+!')}"]

    def check() -> None:
        get_document(access, f"{address}/{LIST}", "*/*", LARGEST_LIST)

    return Place(public_url(address), access, (LockedPackage,), url, check)


def _checked(address: str, where: str) -> str:
    """Return the URL of a static channel."""
    if re.match(r"https?://", address):
        with suppress(ValueError):
            if urlsplit(address).hostname:
                return address
    elif re.match(r"file:/", address):
        return Path(url2pathname(urlsplit(address).path)).as_uri()
    elif not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", address):
        return expanded(address).absolute().as_uri()
    raise UsageError(
        f"{where} has an address that cannot be used",
        expected="a folder, file:, http://, https:// or oci://HOST/NAME",
        found=public_url(address),
        fix="correct it, or leave it out",
    )


def release_address(remote: str) -> str | None:
    """Return where the release of a git remote's repository is, None if it is not on GitHub."""
    match = _REMOTE.fullmatch(remote)
    return ADDRESS.format(repository=match["repository"]) if match else None


def _git_remote(root: Path) -> str | None:
    """Return the address of the checkout's remote `origin`, None if there is none."""
    # A folder in another repository must not take that one's remote.
    if not (root / ".git").exists():
        return None
    try:
        return call(["git", "-C", root, "remote", "get-url", "origin"], limit=5).strip()
    except CommandError:
        return None


@dataclass(frozen=True)
class Holdings:
    """What a place has.

    held: the files that it has with the pinned size. problems: what is wrong with others that are
    not simply missing. failure: why the place was not asked to the end, None if it was.
    """

    place: str
    held: frozenset[Pin] = frozenset()
    problems: dict[Pin, str] = field(default_factory=dict)
    failure: str | None = None


def survey(places: Sequence[Place], pins: Sequence[Pin], stop: threading.Event) -> list[Holdings]:
    """Ask every place for the files that it may have, each over one connection, in turn."""
    return parallel_map(lambda place: _ask(place, pins), places, stop)


def _ask(place: Place, pins: Sequence[Pin]) -> Holdings:
    held: set[Pin] = set()
    problems: dict[Pin, str] = {}
    for pin in pins:
        if not isinstance(pin, place.kinds):
            continue
        try:
            url = place.urls(pin)[0]
            size = size_at(place.web, url)
            if size == pin.size:
                held.add(pin)
            else:
                sent = f"{public_url(url)} answers with {size or 'no'} bytes"
                problems[pin] = f"{sent}; pinned are {pin.size}"
        except MissingError:
            continue
        except TransientError as error:
            # The retries waited as long as the server asked for: leave it in peace.
            return Holdings(place.name, frozenset(held), problems, error.what)
        except (FetchError, IntegrityError) as error:
            problems[pin] = error.what
    return Holdings(place.name, frozenset(held), problems)
