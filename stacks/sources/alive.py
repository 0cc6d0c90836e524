"""Which places still have which pinned files: a question about sizes, without a download."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from stacks.core.errors import FetchError
from stacks.sources.download import size_at
from stacks.sources.mirrors import PipSettings, pip_settings, public_url
from stacks.sources.package_index import FileQuery, Link, look_up
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin, canonical
from stacks.sources.vendored import vendored_path
from stacks.sources.web import MissingError, StoppedError, TransientError, Web, pip_web


class OtherFileError(FetchError):
    """The place has a file of this name, but another one."""


@dataclass(frozen=True)
class SourcePlace:
    """A place that may have some of the pinned files.

    name: its address for messages. check(pin) returns if the place has the file, and raises
    MissingError if it does not, OtherFileError if the file differs, or another FetchError if the
    place does not answer.
    """

    name: str
    pins: tuple[Pin, ...]
    check: Callable[[Pin], None]


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


def survey(places: Sequence[SourcePlace], stop: threading.Event) -> list[Holdings]:
    """Ask every place for its files, each over one connection, one file after the other."""
    return parallel_map(_ask, places, stop)


def _ask(place: SourcePlace) -> Holdings:
    held: set[Pin] = set()
    problems: dict[Pin, str] = {}
    for pin in place.pins:
        try:
            place.check(pin)
            held.add(pin)
        except StoppedError:
            raise
        except MissingError:
            continue
        except TransientError as error:
            # The retries waited as long as the server asked for: leave it in peace.
            return Holdings(place.name, frozenset(held), problems, error.what)
        except FetchError as error:
            problems[pin] = error.what
    return Holdings(place.name, frozenset(held), problems)


def mirror_place(web: Web, root: str, pins: Sequence[DebPin]) -> SourcePlace:
    """Return the place that a mirror of Debian's archive is, by its root."""

    def check(pin: Pin) -> None:
        assert isinstance(pin, DebPin)
        _check_size(web, f"{root}/{pin.path}", pin)

    return SourcePlace(public_url(root), tuple(pins), check)


def channel_place(
    web: Web, name: str, packages: Sequence[CondaPin], url_of: Callable[[CondaPin], str]
) -> SourcePlace:
    """Return the place that a channel of conda packages is; url_of(package) is its URL there."""

    def check(pin: Pin) -> None:
        assert isinstance(pin, CondaPin)
        _check_size(web, url_of(pin), pin)

    return SourcePlace(name, tuple(packages), check)


def vendored_place(web: Web, folder: Path, pins: Sequence[Pin]) -> SourcePlace:
    """Return the place that a vendored folder is for pinned sources."""

    def check(pin: Pin) -> None:
        _check_size(web, vendored_path(folder, pin).as_uri(), pin)

    return SourcePlace(f"{folder}/sources", tuple(pins), check)


def index_places(pins: Sequence[IndexPin], stop: threading.Event) -> list[SourcePlace]:
    """Return a place for each package index and each find-links of pip's configuration."""
    settings = pip_settings()
    web = pip_web(stop, settings)
    alone = [replace(settings, index_urls=(url,), find_links=()) for url in settings.index_urls]
    alone += [replace(settings, index_urls=(), find_links=(url,)) for url in settings.find_links]
    return [_index_place(web, each, pins) for each in alone]


def _index_place(web: Web, settings: PipSettings, pins: Sequence[IndexPin]) -> SourcePlace:
    """Return the place of settings with one address; it is asked once for each project."""
    queries: dict[str, set[FileQuery]] = {}
    for pin in pins:
        queries.setdefault(canonical(pin.name), set()).add(FileQuery(pin.filename, pin.sha256))
    answers: dict[str, tuple[Link, ...]] = {}

    def check(pin: Pin) -> None:
        project = canonical(pin.name)
        if project not in answers:
            answers[project] = look_up(web, settings, project, frozenset(queries[project])).links
        links = [link for link in answers[project] if link.filename == pin.filename]
        if not links:
            raise MissingError(f"{pin.filename} is not in the index")
        same = [link for link in links if link.sha256 in (None, pin.sha256)]
        if not same:
            raise OtherFileError(
                f"{public_url(links[0].url)} has other bytes: sha256 {links[0].sha256}"
            )
        _check_size(web, same[0].url, pin)

    (address,) = settings.index_urls + settings.find_links
    return SourcePlace(
        public_url(address), tuple(sorted(pins, key=lambda p: canonical(p.name))), check
    )


def _check_size(web: Web, url: str, pin: Pin) -> None:
    size = size_at(web, url)
    if size != pin.size:
        found = "without its size" if size is None else f"with {size} bytes"
        raise OtherFileError(f"{public_url(url)} answers {found}; pinned are {pin.size}")
