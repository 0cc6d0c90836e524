"""Download of pinned files from the places that may have them, each checked by its SHA-256."""

import logging
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from stacks.core.disk import explain_disk_errors, hold_lock, sha256_of
from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.core.workspace import Workspace
from stacks.sources.debian_mirrors import (
    WHEEL_FILE,
    WHEEL_ORIGIN,
    Wheel,
    current_mirrors,
    ended_releases,
)
from stacks.sources.download import download
from stacks.sources.mirrors import public_url
from stacks.sources.package_index import NotListedError
from stacks.sources.parallel import DownloadProgress, download_progress, parallel_map
from stacks.sources.pins import (
    DebPin,
    IndexPin,
    LockedPackage,
    Pin,
    cached_path,
    digest_at,
    read_pins,
)
from stacks.sources.places import Place, index_places, locked_places, mirror_place
from stacks.sources.web import MissingError, environment_web

LOGGER = logging.getLogger(__name__)
DROPPED = (
    "the mirror no longer has this version: export DEBIAN_SNAPSHOT_MIRROR=<the root of an archive "
    "that keeps old versions>, or pin what the mirror has now with `./invoke pin`"
)


# Why each file did not come from a place: NotListedError with its name if the place lacks the file.
Failures = dict[Pin, list[StacksError]]


def retrieve(
    workspace: Workspace,
    pins: Sequence[Pin],
    places: Sequence[Place],
    path_of: Callable[[Pin], Path] | None = None,
) -> tuple[dict[Pin, Place], Failures]:
    """Take files into the cache; return the first place that had each, and why others are missing.

    Each place is asked for all files that are still missing. Finished files stay, and partial
    downloads resume next time. path_of: where a file is kept, by default as a source; its folder is
    for that file alone. Raises DiskError.
    """
    target = path_of or partial(cached_path, workspace.cache)
    found: dict[Pin, Place] = {}
    failures: Failures = {pin: [] for pin in pins}
    for place in places:
        asked = [pin for pin in pins if pin not in found and isinstance(pin, place.kinds)]
        if not asked:
            continue
        try:
            place.check()
        except FetchError as failure:
            _report(place, [failure])
            continue
        with download_progress(len(asked), sum(pin.size for pin in asked)) as progress:
            errors = parallel_map(
                lambda pin: _take(workspace, place, pin, target(pin), progress),  # noqa: B023
                asked,
                place.web.stop,
            )
        for pin, error in zip(asked, errors, strict=True):
            if error is None:
                found[pin] = place
                del failures[pin]
            else:
                failures[pin].append(error)
        _report(place, [error for error in errors if error])
    return found, failures


def _report(place: Place, errors: Sequence[StacksError]) -> None:
    """Print or log one failure of a place; that it lacks a file is none."""
    if error := _worst(errors):
        if place.warns:
            print(f"warning: {error.what}; the next place is tried", file=sys.stderr, flush=True)
        else:
            LOGGER.info("%s: %s", place.name, error.what)


def _worst(errors: Iterable[StacksError]) -> StacksError | None:
    """Return the failure to show, None if all servers answered that the file is missing."""
    serious = [error for error in errors if not isinstance(error, MissingError)]
    return min(serious, key=lambda error: not isinstance(error, IntegrityError), default=None)


def _take(
    workspace: Workspace, place: Place, pin: Pin, target: Path, progress: DownloadProgress
) -> StacksError | None:
    """Take a file from a place to its path; return the error, None if there is none."""
    errors: list[StacksError] = []
    try:
        with hold_lock(target.parent, pin.filename):
            # Another process may have fetched it meanwhile.
            if _is_at(target, pin):
                return None
            try:
                for url in place.urls(pin):
                    try:
                        part = _download(workspace, url, place, pin, progress)
                    except (FetchError, IntegrityError) as error:
                        errors.append(error)
                        continue
                    with explain_disk_errors(target):
                        # `serve` makes hard links to packages: an edit must not reach the cache.
                        part.chmod(0o444)
                        target.parent.mkdir(exist_ok=True)
                        part.replace(target)
                    return None
            finally:
                # Without a part that is to be continued it is empty.
                with suppress(OSError):
                    cached_path(workspace.cache, pin).parent.rmdir()
    except (FetchError, IntegrityError) as error:
        return error
    return _worst(errors) or NotListedError(place.name)


def _is_at(target: Path, pin: Pin) -> bool:
    """Return whether the right bytes are at a path; wrong ones are deleted."""
    digest = digest_at(target)
    if digest not in (None, pin.sha256):
        note = f"{target}: deleted: expected sha256 {pin.sha256}, found {digest}"
        print(note, file=sys.stderr, flush=True)
        with explain_disk_errors(target):
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    return digest == pin.sha256


def _download(
    workspace: Workspace, url: str, place: Place, pin: Pin, progress: DownloadProgress
) -> Path:
    """Return a file with all of the pinned bytes; a part, or wrong bytes, are fetched again."""
    target = cached_path(workspace.cache, pin)
    part = target.with_name(f"{target.name}.part")
    with explain_disk_errors(part):
        part.parent.mkdir(parents=True, exist_ok=True)
        already = part.stat().st_size if part.exists() else 0
    progress.advance(already)
    for _ in range(2):
        download(place.web, url, part, pin.size, progress.advance)
        with explain_disk_errors(part):
            digest = sha256_of(part)
            if digest == pin.sha256:
                progress.finished += 1
                return part
            progress.advance(-part.stat().st_size)
            part.unlink()
    raise IntegrityError(
        f"{pin.filename} from {public_url(url)}: its bytes are not the pinned ones, twice",
        expected=f"sha256 {pin.sha256}, {pin.size} bytes",
        found=f"sha256 {digest}",
        fix="try another mirror or index; if the change is right, "
        + ("lock again" if isinstance(pin, LockedPackage) else "`./invoke pin` shows it"),
    )


def address_wheel(workspace: Workspace) -> Wheel:
    """Return the function that gives the wheel with the addresses of Debian's archive."""

    def wheel() -> Path:
        pin = read_pins(workspace.sources_lock).file(WHEEL_FILE)
        if digest_at(cached_path(workspace.cache, pin)) != pin.sha256:
            note = f"fetching the addresses of Debian's archive: {WHEEL_ORIGIN}, once"
            print(note, file=sys.stderr, flush=True)
            # Its failure must not stop the run that it is for.
            _raise(retrieve(workspace, [pin], index_places(threading.Event()))[1])
        return cached_path(workspace.cache, pin)

    return wheel


def fetch_sources(workspace: Workspace, pins: Sequence[Pin], stop: threading.Event) -> None:
    """Take pinned sources into the cache from the places that the user's configuration names.

    They are the mirrors of Debian's archive, and the archives of ended releases for what a mirror
    lacks; the indexes of pip's configuration; the channel of other packages. Raises FetchError if
    a file is at none of them, IntegrityError if one has other bytes.
    """
    places: list[Place] = []
    wheel, web = address_wheel(workspace), environment_web(stop)
    if any(isinstance(pin, DebPin) for pin in pins):
        places += [mirror_place(web, root) for root in current_mirrors(wheel)]
    if any(isinstance(pin, IndexPin) for pin in pins):
        places += index_places(stop)
    if packages := [pin for pin in pins if isinstance(pin, LockedPackage)]:
        # Loaded here: it imports conda's own code, and few runs have another channel.
        from stacks.sources.condarc import conda_web

        places += locked_places(conda_web(stop, packages[0].urls[0]), packages)
    failures = retrieve(workspace, pins, places)[1]
    dropped = [
        pin
        for pin, found in failures.items()
        if isinstance(pin, DebPin) and any(isinstance(error, MissingError) for error in found)
    ]
    if dropped:
        roots, names = ended_releases(wheel)
        places = [mirror_place(web, root) for root in roots]
        found, more = retrieve(workspace, dropped, places)
        for pin in found:
            del failures[pin]
        for pin, errors in more.items():
            lack = NotListedError(names)
            failures[pin] += [_of_ended(pin, failures[pin], error) for error in errors or [lack]]
    _raise(failures)


def _of_ended(pin: Pin, before: Sequence[StacksError], error: StacksError) -> StacksError:
    """Return why a file is not in the archives of ended releases, after the mirrors."""
    if isinstance(error, (MissingError, IntegrityError)):
        return error
    what = f"{pin.name} {pin.version} ({pin.filename}) is not at: {_origins(before)}"
    expected = "it at the archive of ended releases"
    return FetchError(what, expected=expected, found=error.what, fix=DROPPED)


def _raise(failures: Failures) -> None:
    """Raise the error of files that no place had, if there are any."""
    if error := _worst(error for found in failures.values() for error in found):
        raise error
    if not failures:
        return
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
        LockedPackage: "the channel no longer has this package: set conda's channel_alias to a "
        "mirror that keeps old ones, or lock again",
    }
    kinds = {type(pin) for pin in failures}
    raise FetchError("\n".join(lines), fix="; ".join(fixes[k] for k in fixes if k in kinds))


def _origins(failures: Sequence[StacksError]) -> str:
    """Return the places that lack a file, for messages."""
    return ", ".join(error.what for error in failures if isinstance(error, NotListedError))
