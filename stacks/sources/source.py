"""Where a pinned file may be had, and the errors for one that is nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin
from stacks.sources.web import MissingError, Web

DROPPED = (
    "the mirror no longer has this version: export DEBIAN_SNAPSHOT_MIRROR=<the root of an archive "
    "that keeps old versions>, or pin what the mirror has now with `./invoke pin`"
)


@dataclass(frozen=True)
class Source:
    """The URLs to try for a file, in order; `origins` are the mirrors or indexes, for messages.

    `more` finds further URLs, and is called if these fail. `archived` has what mirrors have
    dropped, and is called if one of them answers that it lacks the file.
    """

    web: Web
    urls: tuple[str, ...]
    origins: tuple[str, ...]
    more: Callable[[], tuple[str, ...]] = tuple
    archived: Callable[[], tuple[str, ...]] = tuple
    archives: Callable[[], tuple[str, ...]] = tuple

    def all_urls(self) -> Iterator[str]:
        """Give all URLs, the further ones too, but for those of the archives."""
        yield from self.urls
        yield from self.more()


def worst(failures: Sequence[StacksError]) -> StacksError | None:
    """Return the failure to show, None if all servers answered that the file is missing."""
    serious = [failure for failure in failures if not isinstance(failure, MissingError)]
    return next(
        (error for error in serious if isinstance(error, IntegrityError)),
        serious[0] if serious else None,
    )


def archive_error(pin: Pin, source: Source, error: StacksError) -> StacksError:
    """Return the error for a file that no mirror has and whose archive fails."""
    if isinstance(error, IntegrityError):
        return error
    return FetchError(
        f"{pin.name} {pin.version} ({pin.filename}) is not at: {', '.join(source.origins)}",
        expected="it at the archive of ended releases",
        found=error.what,
        fix=DROPPED,
    )


def raise_missing(pins: Sequence[Pin], sources: dict[Pin, Source]) -> None:
    """Raise FetchError for files that every server answered not to have, if there are any."""
    if not pins:
        return
    shown_pins = pins[:10]
    lines = []
    for pin in shown_pins:
        suite = f" of {pin.suite}" if isinstance(pin, DebPin) else ""
        origins = (
            ", ".join((*sources[pin].origins, *sources[pin].archives()))
            or "no index: pip's no-index is set"
        )
        lines.append(f"{pin.name} {pin.version}{suite} ({pin.filename}) is not at: {origins}")
    if len(pins) > len(shown_pins):
        lines.append(f"and {len(pins) - len(shown_pins)} more")
    fixes = []
    if any(isinstance(pin, DebPin) for pin in pins):
        fixes.append(DROPPED)
    if any(isinstance(pin, IndexPin) for pin in pins):
        fixes.append(
            "add an index that has the file to pip's configuration (extra-index-url, find-links), "
            "or pin another with `./invoke pin`"
        )
    if any(isinstance(pin, CondaPin) for pin in pins):
        fixes.append(
            "the channel no longer has this package: set conda's channel_alias to a mirror that "
            "keeps old ones, or lock again"
        )
    raise FetchError("\n".join(lines), fix="; ".join(fixes))
