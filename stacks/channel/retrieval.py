"""Packages from places that have them ready, each checked against the lock."""

from __future__ import annotations

import logging
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from stacks.channel import package
from stacks.channel.locked_package import LockedPackage
from stacks.channel.package import Built
from stacks.channel.places import Place
from stacks.core.disk import explain_disk_errors, sha256_of
from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path
from stacks.sources.download import download, get_document
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import CondaPin
from stacks.sources.progress import DownloadProgress, download_progress
from stacks.sources.web import MissingError, StoppedError, Web, environment_web, host_of

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)
# Seconds, and tries after the first: another place or the sources can take over.
TIMEOUT, RETRIES = 5.0, 1
# Seconds: the list of a release that nobody asked for must not hold up a machine without network.
LONGEST_LOOKUP = 2.0
LARGEST_LIST = 1 << 20


@dataclass(frozen=True)
class Retrieved:
    """A package that a place had: now in the cache, with the locked bytes."""

    place: Place
    built: Built


@dataclass(frozen=True)
class _Visit:
    """One place in one run: the access to it, and what failed there, in order.

    The access remembers a server that does not answer or is slow: it is not asked again.
    """

    place: Place
    web: Web
    failures: list[StacksError] = field(default_factory=list)


def retrieve(
    workspace: Workspace, places: Sequence[Place], packages: Sequence[LockedPackage]
) -> dict[str, Retrieved]:
    """Take packages into the cache from the first place that has each; return them by file name.

    A place that fails or has other bytes costs one warning. What is not in the answer was nowhere.
    Raises DiskError.
    """
    retrieved: dict[str, Retrieved] = {}
    for place in places:
        missing = [each for each in packages if each.file_name not in retrieved]
        if not missing:
            break
        retrieved |= _retrieve_from(workspace, place, missing)
    return retrieved


def _retrieve_from(
    workspace: Workspace, place: Place, packages: Sequence[LockedPackage]
) -> dict[str, Retrieved]:
    """Return the packages that came from one place."""
    stop = threading.Event()
    retries = RETRIES if place.configured else 0
    web = place.access(replace(environment_web(stop), timeout=TIMEOUT, retries=retries))
    # The one warning below takes the place of the note of each server's first wait.
    web.noted_hosts.add(host_of(place.root))
    visit = _Visit(place, web)
    if place.release and not _exists(visit):
        packages = ()
    elif place.folder and not place.folder.is_dir():
        visit.failures.append(FetchError(f"{place.name}: no such folder"))
        packages = ()
    found: list[Built | None] = []
    if packages:
        with download_progress(len(packages), sum(each.size for each in packages)) as progress:
            found = parallel_map(
                lambda each: _take(workspace, visit, each, progress), packages, stop
            )
    _report(visit)
    return {
        each.file_name: Retrieved(place, built)
        for each, built in zip(packages, found, strict=True)
        if built
    }


def _report(visit: _Visit) -> None:
    if not visit.failures:
        return
    # Other threads may have noted first that the server is not asked again.
    error = visit.web.server(f"{visit.place.root}/").failure or visit.failures[0]
    if visit.place.configured:
        print(f"warning: {error.what}; the next place is tried", file=sys.stderr, flush=True)
    else:
        LOGGER.info("%s: %s", visit.place.name, error.what)


def _exists(visit: _Visit) -> bool:
    """Return whether a repository has the release; false if it does not answer soon.

    Its list names the packages of today's locks; the release keeps older ones for older checkouts.
    """
    url = visit.place.list_url
    try:
        _within(LONGEST_LOOKUP, lambda: get_document(visit.web, url, "text/plain", LARGEST_LIST))
    except MissingError:
        return False
    except StacksError as error:
        visit.failures.append(error)
        return False
    return True


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns; FetchError if that takes longer.

    A look-up of a name has no limit of its own.
    """
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:  # raised in the caller's thread
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise FetchError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]  # without an error it is a T


def _take(
    workspace: Workspace, visit: _Visit, locked: LockedPackage, progress: DownloadProgress
) -> Built | None:
    """Return a package, taken into the cache; None if the place does not have it."""
    try:
        with package.being_made(workspace, locked.sha256, locked.file_name):
            # Another process may have made it meanwhile.
            if built := package.cached(workspace, locked.file_name, locked.sha256):
                return built
            part = _download(workspace, visit, locked, progress)
            built = package.add(workspace, part, locked.file_name, locked.sha256)
            with suppress(OSError):
                part.parent.rmdir()
            return built
    except StoppedError:
        raise
    except MissingError:
        return None
    except (FetchError, IntegrityError) as error:
        visit.failures.append(error)
        return None


def _download(
    workspace: Workspace, visit: _Visit, locked: LockedPackage, progress: DownloadProgress
) -> Path:
    """Return a file with the package's bytes, or raise IntegrityError; parts resume next time."""
    pin = CondaPin(
        name=locked.name,
        version=locked.version,
        filename=locked.file_name,
        size=locked.size,
        sha256=locked.sha256,
        urls=(),
    )
    url = visit.place.url(locked.subdir, pin)
    target = cached_path(workspace, pin)
    part = target.with_name(f"{target.name}.part")
    with explain_disk_errors(part):
        part.parent.mkdir(parents=True, exist_ok=True)
        already = part.stat().st_size if part.exists() else 0
    with progress.file(pin.filename, pin.size, already) as advance:
        # A part may have begun with another place's wrong bytes.
        for _ in range(2 if already else 1):
            download(visit.web, url, part, locked.size, advance)
            with explain_disk_errors(part):
                digest = sha256_of(part)
                if digest == locked.sha256:
                    return part
                advance(-part.stat().st_size)
                part.unlink()
    raise IntegrityError(
        f"{locked.file_name} from {visit.place.name}: its bytes are not the locked ones",
        expected=f"sha256 {locked.sha256}, {locked.size} bytes",
        found=f"sha256 {digest}",
    )
