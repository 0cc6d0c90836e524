"""Download of pinned files from the places that may have them, each checked by its SHA-256."""

from __future__ import annotations

import logging
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from stacks.core.disk import explain_disk_errors, hold_lock, sha256_of
from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.core.workspace import Workspace
from stacks.sources.debian_mirrors import (
    WHEEL_FILE,
    WHEEL_ORIGIN,
    EndedReleases,
    Wheel,
    current_mirrors,
)
from stacks.sources.download import download
from stacks.sources.mirrors import public_url
from stacks.sources.parallel import DownloadProgress, download_progress, parallel_map
from stacks.sources.pins import (
    CondaPin,
    DebPin,
    IndexPin,
    Pin,
    cached_path,
    cached_sha256,
    read_pins,
    total_size,
)
from stacks.sources.places import (
    Failure,
    Place,
    ended_place,
    index_places,
    locked_place,
    mirror_place,
    raise_failures,
    worst,
)
from stacks.sources.web import MissingError, StoppedError, environment_web

LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Store:
    """Where files are kept.

    lock: holds a file against other processes. has: whether its right bytes are there; wrong ones
    are deleted. add: moves a file with the right bytes there.
    """

    lock: Callable[[Pin], AbstractContextManager[None]]
    has: Callable[[Pin], bool]
    add: Callable[[Pin, Path], None]


@dataclass(frozen=True)
class Retrieved:
    """The place that each file came from, and the failures of the files that no place had."""

    places: dict[Pin, Place]
    failures: dict[Pin, list[Failure]]


def retrieve(
    workspace: Workspace,
    pins: Sequence[Pin],
    places: Sequence[Place],
    store: Store,
    stop: threading.Event,
) -> Retrieved:
    """Take files into a store, each from the first place that has it.

    Each place is asked for all files that are still missing. Finished files stay, and partial
    downloads resume next time. Raises DiskError.
    """
    found: dict[Pin, Place] = {}
    failures: dict[Pin, list[Failure]] = {pin: [] for pin in pins}
    for place in places:
        asked = [pin for pin in pins if pin not in found and _is_asked(place, pin, failures[pin])]
        if not asked or not _is_available(place):
            continue
        with download_progress(len(asked), total_size(asked)) as progress:
            errors = parallel_map(
                lambda pin: _take(workspace, place, pin, store, progress),  # noqa: B023
                asked,
                stop,
            )
        for pin, error in zip(asked, errors, strict=True):
            if error is None:
                found[pin] = place
            else:
                failures[pin].append(Failure(place, error))
        _report(place, [error for error in errors if error])
    return Retrieved(found, {pin: failures[pin] for pin in pins if pin not in found})


def _is_asked(place: Place, pin: Pin, failures: Sequence[Failure]) -> bool:
    is_lacking = any(isinstance(failure.error, MissingError) for failure in failures)
    return isinstance(pin, place.kinds) and (is_lacking or not place.is_last_resort)


def _is_available(place: Place) -> bool:
    try:
        place.check()
    except StoppedError:
        raise
    except FetchError as error:
        _report(place, [error])
        return False
    return True


def _report(place: Place, errors: Sequence[StacksError]) -> None:
    """Print or log one failure of a place; that it lacks a file is none."""
    if error := worst(errors):
        if place.warns:
            print(f"warning: {error.what}; the next place is tried", file=sys.stderr, flush=True)
        else:
            LOGGER.info("%s: %s", place.name, error.what)


def _take(
    workspace: Workspace, place: Place, pin: Pin, store: Store, progress: DownloadProgress
) -> StacksError | None:
    """Take a file from a place into the store; return the error, None if there is none."""
    errors: list[StacksError] = []
    try:
        with store.lock(pin):
            # Another process may have fetched it meanwhile.
            if store.has(pin):
                return None
            for url in place.urls(pin):
                try:
                    part = _download(workspace, url, place, pin, progress)
                except StoppedError:
                    raise
                except (FetchError, IntegrityError) as error:
                    errors.append(error)
                    continue
                with explain_disk_errors(part):
                    store.add(pin, part)
                with suppress(OSError):
                    part.parent.rmdir()
                return None
    except StoppedError:
        raise
    except (FetchError, IntegrityError) as error:
        return error
    return worst(errors) or errors[0]


def _download(
    workspace: Workspace, url: str, place: Place, pin: Pin, progress: DownloadProgress
) -> Path:
    """Return a file with all of the pinned bytes; a part, or wrong bytes, are fetched again."""
    target = cached_path(workspace, pin)
    part = target.with_name(f"{target.name}.part")
    with explain_disk_errors(part):
        part.parent.mkdir(parents=True, exist_ok=True)
        already = part.stat().st_size if part.exists() else 0
    with progress.file(pin.filename, pin.size, already) as advance:
        for _ in range(2):
            download(place.web, url, part, pin.size, advance)
            with explain_disk_errors(part):
                digest = sha256_of(part)
                if digest == pin.sha256:
                    return part
                advance(-part.stat().st_size)
                part.unlink()
    raise IntegrityError(
        f"{pin.filename} from {public_url(url)}: its bytes are not the pinned ones, twice",
        expected=f"sha256 {pin.sha256}, {pin.size} bytes",
        found=f"sha256 {digest}",
        fix="try another mirror or index; if the change is right, "
        + ("lock again" if isinstance(pin, CondaPin) else "`./invoke pin` shows it"),
    )


def cache_of(workspace: Workspace) -> Store:
    """Return the cache as the store of pinned sources."""

    def has(pin: Pin) -> bool:
        target, digest = cached_path(workspace, pin), cached_sha256(workspace, pin)
        if digest not in (None, pin.sha256):
            note = f"{target}: deleted: expected sha256 {pin.sha256}, found {digest}"
            print(note, file=sys.stderr, flush=True)
            with explain_disk_errors(target):
                shutil.rmtree(target) if target.is_dir() else target.unlink()
        return digest == pin.sha256

    def add(pin: Pin, part: Path) -> None:
        part.chmod(0o444)
        part.replace(cached_path(workspace, pin))

    return Store(lambda pin: hold_lock(cached_path(workspace, pin), pin.filename), has, add)


def address_wheel(workspace: Workspace) -> Wheel:
    """Return the function that gives the wheel with the addresses of Debian's archive."""

    def wheel() -> Path:
        pin = read_pins(workspace.sources_lock).file(WHEEL_FILE)
        if cached_sha256(workspace, pin) != pin.sha256:
            note = f"fetching the addresses of Debian's archive: {WHEEL_ORIGIN}, once"
            print(note, file=sys.stderr, flush=True)
            # Its failure must not stop the run that it is for.
            stop = threading.Event()
            places = index_places(stop)
            retrieved = retrieve(workspace, [pin], places, cache_of(workspace), stop)
            raise_failures(retrieved.failures)
        return cached_path(workspace, pin)

    return wheel


def source_places(workspace: Workspace, pins: Sequence[Pin], stop: threading.Event) -> list[Place]:
    """Return the places of pinned sources that the user's configuration names, in their order."""
    places: list[Place] = []
    if any(isinstance(pin, DebPin) for pin in pins):
        wheel = address_wheel(workspace)
        roots = tuple(mirror.url for mirror in current_mirrors(wheel))
        web = replace(environment_web(stop), roots=roots)
        places += [mirror_place(web, root) for root in roots]
        ended = EndedReleases(wheel)
        places.append(ended_place(web, ended.roots, lambda: ", ".join(ended.origins())))
    if any(isinstance(pin, IndexPin) for pin in pins):
        places += index_places(stop)
    if packages := [pin for pin in pins if isinstance(pin, CondaPin)]:
        # Loaded here: it imports conda's own code, and few runs have another channel.
        from stacks.sources.condarc import conda_web

        places.append(locked_place(conda_web(stop, packages[0].urls[0]), packages))
    return places
