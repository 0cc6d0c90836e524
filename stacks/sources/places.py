"""The places that may have pinned files: a vendored folder, mirrors, package indexes, channels.

A place needs no trust: each pin fixes its file's size and SHA-256.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from stacks.core.errors import IntegrityError
from stacks.sources.mirrors import pip_settings, public_url
from stacks.sources.package_index import Index, NotListedError, indexes_of
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin
from stacks.sources.vendored import vendored_folder, vendored_path
from stacks.sources.web import Web, environment_web, pip_web


@dataclass(frozen=True)
class Place:
    """A place that may have some of the pinned files.

    name: its address for messages; `names` returns that of a place whose address is looked up.
    kinds: of pins that it may have. urls: returns the addresses to try for a file; raises
    NotListedError, IntegrityError if the place lists other bytes under the file's name, FetchError
    if it cannot be asked. check: raises FetchError if the place as a whole is not available,
    MissingError if it does not exist. warns: whether its failures are printed as warnings.
    is_last_resort: whether it is only asked for a file that another place lacks.
    """

    name: str
    web: Web
    kinds: tuple[type[Pin], ...]
    urls: Callable[[Pin], Sequence[str]]
    check: Callable[[], None] = lambda: None
    warns: bool = False
    is_last_resort: bool = False
    names: Callable[[], str] | None = None

    def origin(self) -> str:
        """Return the address for messages, once the place was asked."""
        return self.names() if self.names else self.name


def mirror_place(web: Web, root: str) -> Place:
    """Return the place that a mirror of Debian's archive is, by its root."""
    return Place(public_url(root), web, (DebPin,), lambda pin: [f"{root}/{_path(pin)}"])


def ended_place(web: Web, roots: Callable[[], Sequence[str]], names: Callable[[], str]) -> Place:
    """Return the archives of ended releases, whose roots are looked up when first needed.

    names: returns their addresses for messages, or why they are not known.
    """

    def urls(pin: Pin) -> Sequence[str]:
        if not roots():
            raise NotListedError(names())
        return [f"{root}/{_path(pin)}" for root in roots()]

    name = "the archive of ended releases"
    return Place(name, web, (DebPin,), urls, is_last_resort=True, names=names)


def _path(pin: Pin) -> str:
    assert isinstance(pin, DebPin)
    return pin.path


def index_places(stop: threading.Event) -> list[Place]:
    """Return the indexes and the find-links of pip's configuration, in pip's order."""
    settings = pip_settings()
    web = pip_web(stop, settings)
    return [index_place(web, index) for index in indexes_of(web, settings)]


def index_place(web: Web, index: Index) -> Place:
    """Return the place of files that a package index is."""

    def urls(pin: Pin) -> Sequence[str]:
        """Return the links that may have the pinned bytes, those with the pinned SHA-256 first."""
        links = index.links_to(pin.name, pin.filename)
        possible = [link for link in links if link.sha256 in (None, pin.sha256)]
        if not links:
            raise NotListedError(public_url(index.address_of(pin.name)))
        if not possible:
            raise IntegrityError(
                f"{pin.filename}: the index has other bytes under this name",
                expected=f"sha256 {pin.sha256}",
                found=f"sha256 {links[0].sha256} at {public_url(links[0].url)}",
                fix="check which index of pip's configuration has it; `./invoke pin` accepts it",
            )
        return [link.url for link in sorted(possible, key=lambda link: link.sha256 is None)]

    return Place(index.name, web, (IndexPin,), urls)


def locked_place(web: Web, pins: Iterable[CondaPin]) -> Place:
    """Return the place of packages of another channel: the addresses in their lock."""

    def urls(pin: Pin) -> Sequence[str]:
        assert isinstance(pin, CondaPin)
        return pin.urls

    channels = dict.fromkeys(public_url(url.rpartition("/")[0]) for p in pins for url in p.urls)
    return Place(", ".join(channels), web, (CondaPin,), urls)


def vendored_places(stop: threading.Event) -> list[Place]:
    """Return the vendored folder as the place of pinned files; none if it is not set."""
    folder = vendored_folder()
    if folder is None:
        return []
    kinds = (DebPin, IndexPin, CondaPin)
    return [
        Place(
            f"{folder}/sources",
            environment_web(stop),
            kinds,
            lambda pin: [vendored_path(folder, pin).as_uri()],
            warns=True,
        )
    ]
