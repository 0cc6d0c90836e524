"""Bring pinned files into the cache: from Debian's mirrors and the package indexes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import explained, locked, sha256_of
from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path, cached_sha256
from stacks.sources.download import download
from stacks.sources.mirrors import PipSettings, debian_mirrors, pip_settings, shown
from stacks.sources.package_index import Link, Offer, Sought, look_up
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin, canonical, total_size
from stacks.sources.progress import Board, board
from stacks.sources.web import MissingError, StoppedError, Web, environment_web, pip_web


@dataclass(frozen=True)
class Source:
    """The URLs to try for a file, in order, and how to reach them; `asked` is for messages."""

    web: Web
    urls: tuple[str, ...]
    asked: tuple[str, ...]


def retrieve(workspace: Workspace, pins: Sequence[Pin], stop: threading.Event) -> None:
    """Put every pinned file into the cache, checked.

    Raises FetchError, IntegrityError or DiskError; files that came before that stay, and those
    under way are gone on with the next time.
    """
    sources = _deb_sources([pin for pin in pins if isinstance(pin, DebPin)], stop)
    sources |= _index_sources([pin for pin in pins if isinstance(pin, IndexPin)], stop)
    sources |= _channel_sources([pin for pin in pins if isinstance(pin, CondaPin)], stop)
    with board(len(pins), total_size(pins)) as seen:
        missing = parallel_map(
            lambda pin: _bring_one(workspace, pin, sources[pin], seen), pins, stop
        )
    _raise_missing([pin for pin, absent in zip(pins, missing, strict=True) if absent], sources)


def offers(
    web: Web, settings: PipSettings, wanted: Iterable[tuple[str, Sought]]
) -> dict[str, Offer]:
    """Return what the package indexes offer of each project, for pairs of project and file.

    One look-up a project; the keys are canonical names.
    """
    projects: dict[str, set[Sought]] = {}
    for project, file in wanted:
        projects.setdefault(canonical(project), set()).add(file)

    def one(project: str) -> Offer:
        return look_up(web, settings, project, frozenset(projects[project]))

    return dict(zip(projects, parallel_map(one, list(projects), web.stop), strict=True))


def _deb_sources(pins: Sequence[DebPin], stop: threading.Event) -> dict[Pin, Source]:
    web = environment_web(stop)
    roots = {
        security: debian_mirrors(security=security)
        for security in {pin.suite.endswith("-security") for pin in pins}
    }
    found: dict[Pin, Source] = {}
    for pin in pins:
        mirrors = roots[pin.suite.endswith("-security")]
        urls = tuple(f"{root}/{pin.path}" for root in mirrors)
        found[pin] = Source(web, urls, tuple(shown(root) for root in mirrors))
    return found


def _index_sources(pins: Sequence[IndexPin], stop: threading.Event) -> dict[Pin, Source]:
    if not pins:
        return {}
    settings = pip_settings()
    web = pip_web(stop, settings)
    offered = offers(web, settings, [(pin.name, Sought(pin.filename, pin.sha256)) for pin in pins])
    found: dict[Pin, Source] = {}
    for pin in pins:
        offer = offered[canonical(pin.name)]
        links = offer.of(pin.filename)
        found[pin] = Source(web, _urls(pin, links), offer.tried)
    return found


def _channel_sources(pins: Sequence[CondaPin], stop: threading.Event) -> dict[Pin, Source]:
    if not pins:
        return {}
    # Loaded here: it brings conda's own code with it, and few runs have another channel.
    from stacks.sources.condarc import conda_web

    web = conda_web(stop, pins[0].urls[0])
    return {pin: Source(web, pin.urls, tuple(shown(url) for url in pin.urls)) for pin in pins}


def _urls(pin: IndexPin, links: Sequence[Link]) -> tuple[str, ...]:
    """Return the links that may have the pinned bytes, those that say so first."""
    sure = [link.url for link in links if link.sha256 == pin.sha256]
    unsure = [link.url for link in links if link.sha256 is None]
    if links and not sure and not unsure:
        raise IntegrityError(
            f"{pin.filename}: the index offers other bytes under this name",
            expected=f"sha256 {pin.sha256}",
            found=f"sha256 {links[0].sha256} at {shown(links[0].url)}",
            fix="look which index of pip's configuration offers it; `./invoke pin` takes it "
            "on purpose",
        )
    return (*sure, *unsure)


def _bring_one(workspace: Workspace, pin: Pin, source: Source, seen: Board) -> bool:
    """Bring one file into the cache; True where every server was asked and none has it."""
    target = cached_path(workspace, pin)
    with locked(target, pin.filename):
        found = cached_sha256(workspace, pin)
        if found == pin.sha256:
            return False
        if found is not None:
            note = f"thrown away: {target}: expected sha256 {pin.sha256}, found {found}"
            print(note, file=sys.stderr, flush=True)
            with explained(target):
                target.unlink()
        failures: list[StacksError] = []
        for url in source.urls:
            failure = _failure(url, source.web, pin, target, seen)
            if failure is None:
                return False
            failures.append(failure)
    serious = [failure for failure in failures if not isinstance(failure, MissingError)]
    if serious:
        raise next((e for e in serious if isinstance(e, IntegrityError)), serious[0])
    return True


def _failure(url: str, web: Web, pin: Pin, target: Path, seen: Board) -> StacksError | None:
    """Bring a file from one URL; return what went wrong with that URL, None where nothing did."""
    try:
        _bring_from(url, web, pin, target, seen)
    except StoppedError:
        raise
    except (FetchError, IntegrityError) as error:
        return error
    return None


def _bring_from(url: str, web: Web, pin: Pin, target: Path, seen: Board) -> None:
    part = target.with_name(f"{target.name}.part")
    already = part.stat().st_size if part.exists() else 0
    with seen.file(pin.filename, pin.size, already) as advance:
        found = _whole(url, web, part, pin, advance)
        if found != pin.sha256:
            found = _whole(url, web, part, pin, advance)
    if found != pin.sha256:
        raise IntegrityError(
            f"{pin.filename} from {shown(url)}: its bytes are not the pinned ones, twice",
            expected=f"sha256 {pin.sha256}, {pin.size} bytes",
            found=f"sha256 {found}",
            fix="try another mirror or index; if the change is right, "
            + ("lock again" if isinstance(pin, CondaPin) else "`./invoke pin` shows it"),
        )
    with explained(target):
        part.replace(target)


def _whole(url: str, web: Web, part: Path, pin: Pin, advance: Callable[[int], None]) -> str:
    """Download all of a file; return its SHA-256, and leave no part where that is wrong."""
    download(web, url, part, pin.size, advance)
    with explained(part):
        found = sha256_of(part)
        if found != pin.sha256:
            advance(-part.stat().st_size)
            part.unlink()
    return found


def _raise_missing(pins: Sequence[Pin], sources: dict[Pin, Source]) -> None:
    if not pins:
        return
    shown_pins = pins[:10]
    lines = []
    for pin in shown_pins:
        suite = f" of {pin.suite}" if isinstance(pin, DebPin) else ""
        asked = ", ".join(sources[pin].asked) or "no index: pip's no-index is set"
        lines.append(f"{pin.name} {pin.version}{suite} ({pin.filename}) is not at: {asked}")
    if len(pins) > len(shown_pins):
        lines.append(f"and {len(pins) - len(shown_pins)} more")
    fixes = []
    if any(isinstance(pin, DebPin) for pin in pins):
        fixes.append(
            "the mirror has dropped this version: export DEBIAN_SNAPSHOT_MIRROR=<the root of an "
            "archive that keeps old versions>, or pin what the mirror has now with `./invoke pin`"
        )
    if any(isinstance(pin, IndexPin) for pin in pins):
        fixes.append(
            "add an index that has the file to pip's configuration (extra-index-url, find-links), "
            "or pin another with `./invoke pin`"
        )
    if any(isinstance(pin, CondaPin) for pin in pins):
        fixes.append(
            "the channel has dropped this package: set conda's channel_alias to a mirror that "
            "keeps old ones, or make the lock anew"
        )
    raise FetchError("\n".join(lines), fix="; ".join(fixes))
