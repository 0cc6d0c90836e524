"""Which places still have which pinned files: a question about sizes, without a download."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from stacks.core.errors import FetchError, IntegrityError
from stacks.sources.download import size_at
from stacks.sources.mirrors import public_url
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import Pin
from stacks.sources.places import Place
from stacks.sources.web import MissingError, StoppedError, TransientError


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
