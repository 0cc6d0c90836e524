"""The places that may have pinned files: a vendored folder, mirrors, package indexes, channels.

Which of them still have which file, asked without a download; and why a file came from none.

A place needs no trust: each pin fixes its file's size and SHA-256.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.sources.download import size_at
from stacks.sources.mirrors import pip_settings, public_url, vendored_folder, vendored_path
from stacks.sources.package_index import Index, NotListedError, indexes_of
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin
from stacks.sources.retries import NotAskedError
from stacks.sources.web import (
    MissingError,
    StoppedError,
    TransientError,
    Web,
    environment_web,
    pip_web,
)


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
        except StoppedError:
            raise
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


DROPPED = (
    "the mirror no longer has this version: export DEBIAN_SNAPSHOT_MIRROR=<the root of an archive "
    "that keeps old versions>, or pin what the mirror has now with `./invoke pin`"
)


@dataclass(frozen=True)
class Failure:
    """Why a file did not come from a place."""

    place: Place
    error: StacksError


def worst(errors: Sequence[StacksError]) -> StacksError | None:
    """Return the failure to show, None if all servers answered that the file is missing."""
    serious = [error for error in errors if not isinstance(error, MissingError)]
    # What was not asked names the failure of another request, which says more itself.
    return min(
        serious,
        key=lambda e: 0 if isinstance(e, IntegrityError) else 1 + isinstance(e, NotAskedError),
        default=None,
    )


def raise_failures(failures: Mapping[Pin, Sequence[Failure]]) -> None:
    """Raise the error of files that no place had, if there are any."""
    errors = [
        error for pin, found in failures.items() if (error := _serious(pin, found)) is not None
    ]
    if error := worst(errors):
        raise error
    if failures:
        raise _missing(failures)


def _serious(pin: Pin, failures: Sequence[Failure]) -> StacksError | None:
    """Return the error of a file, None if all places answered that they lack it."""
    error = worst([failure.error for failure in failures])
    by_error = {id(failure.error): failure.place for failure in failures}
    if error is None or isinstance(error, IntegrityError) or not by_error[id(error)].is_last_resort:
        return error
    return FetchError(
        f"{pin.name} {pin.version} ({pin.filename}) is not at: {_origins(failures[:-1])}",
        expected="it at the archive of ended releases",
        found=error.what,
        fix=DROPPED,
    )


def _origins(failures: Sequence[Failure]) -> str:
    """Return the places that lack a file, for messages."""
    return ", ".join(
        failure.error.what if isinstance(failure.error, NotListedError) else failure.place.origin()
        for failure in failures
    )


def _missing(failures: Mapping[Pin, Sequence[Failure]]) -> FetchError:
    lines = []
    for pin, found in [*failures.items()][:10]:
        suite = f" of {pin.suite}" if isinstance(pin, DebPin) else ""
        origins = _origins(found) or "no index: pip's no-index is set"
        lines.append(f"{pin.name} {pin.version}{suite} ({pin.filename}) is not at: {origins}")
    if len(failures) > len(lines):
        lines.append(f"and {len(failures) - len(lines)} more")
    fixes = {
        DebPin: DROPPED,
        IndexPin: "add an index that has the file to pip's configuration (extra-index-url, "
        "find-links), or pin another with `./invoke pin`",
        CondaPin: "the channel no longer has this package: set conda's channel_alias to a mirror "
        "that keeps old ones, or lock again",
    }
    kinds = {type(pin) for pin in failures}
    return FetchError("\n".join(lines), fix="; ".join(fixes[k] for k in fixes if k in kinds))
