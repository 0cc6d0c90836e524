"""The places that may have pinned files: a vendored folder, mirrors, package indexes, channels.

Which of them still have which file, asked without a download.

A place needs no trust: each pin fixes its file's size and SHA-256.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stacks.core.errors import FetchError, IntegrityError
from stacks.sources.download import size_at
from stacks.sources.mirrors import pip_settings, public_url, vendored_folder, vendored_path
from stacks.sources.package_index import indexes_of
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin
from stacks.sources.web import MissingError, TransientError, Web, environment_web


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
    urls: Callable[[Pin], Sequence[str]]
    check: Callable[[], None] = lambda: None
    warns: bool = False


def mirror_place(web: Web, root: str) -> Place:
    """Return the place that a mirror of Debian's archive is, by its root."""

    def urls(pin: Pin) -> Sequence[str]:
        assert isinstance(pin, DebPin)
        return [f"{root}/{pin.path}"]

    return Place(public_url(root), web.for_place(), (DebPin,), urls)


def index_places(stop: threading.Event) -> list[Place]:
    """Return the indexes and the find-links of pip's configuration, in pip's order."""
    indexes = indexes_of(stop, pip_settings())
    return [Place(public_url(x.address), x.web, (IndexPin,), x.urls) for x in indexes]


def locked_places(web: Web, pins: Sequence[CondaPin]) -> list[Place]:
    """Return the places of packages of another channel: each package's first address, then more."""

    def place(number: int) -> Place:
        def urls(pin: Pin) -> Sequence[str]:
            assert isinstance(pin, CondaPin)
            return pin.urls[number : number + 1]

        folders = (url.rpartition("/")[0] for pin in pins for url in urls(pin))
        name = ", ".join(dict.fromkeys(map(public_url, folders)))
        return Place(name, web.for_place(), (CondaPin,), urls)

    return [place(number) for number in range(max(len(pin.urls) for pin in pins))]


def vendored_places(stop: threading.Event) -> list[Place]:
    """Return the vendored folder as the place of pinned files; none if it is not set."""
    folder = vendored_folder()
    if folder is None:
        return []

    def urls(pin: Pin) -> Sequence[str]:
        return [vendored_path(folder, pin).as_uri()]

    kinds = (DebPin, IndexPin, CondaPin)
    return [Place(f"{folder}/sources", environment_web(stop), kinds, urls, warns=True)]


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
            if problem := _problem(place, pin):
                problems[pin] = problem
            else:
                held.add(pin)
        except MissingError:
            continue
        except TransientError as error:
            # The retries waited as long as the server asked for: leave it in peace.
            return Holdings(place.name, frozenset(held), problems, error.what)
        except (FetchError, IntegrityError) as error:
            problems[pin] = error.what
    return Holdings(place.name, frozenset(held), problems)


def _problem(place: Place, pin: Pin) -> str | None:
    """Return what is wrong with a file at a place, None if it has the pinned size."""
    url = place.urls(pin)[0]
    size = size_at(place.web, url)
    if size == pin.size:
        return None
    found = "without its size" if size is None else f"with {size} bytes"
    return f"{public_url(url)} answers {found}; pinned are {pin.size}"
