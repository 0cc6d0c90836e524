"""Why pinned files did not come from any place, and the error to show for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.sources.package_index import NotListedError
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin
from stacks.sources.places import Place
from stacks.sources.retries import NotAskedError
from stacks.sources.web import MissingError

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
