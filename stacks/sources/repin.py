"""New pins: of debs by the archive's signature, of index files by their bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from stacks.core.disk import explain_disk_errors, hold_lock, sha256_of
from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.debian_archive import Clock, DebRequest, deb_pins
from stacks.sources.download import download
from stacks.sources.mirrors import pip_settings, public_url
from stacks.sources.package_index import Index, Link, indexes_of
from stacks.sources.parallel import DownloadProgress, download_progress, parallel_map
from stacks.sources.pins import IndexPin, Pin, Pins, cached_path, cached_sha256, canonical
from stacks.sources.web import MissingError, StoppedError, Web, pip_web


@dataclass(frozen=True, order=True)
class FileRequest:
    """A file of the package index to pin."""

    name: str
    version: str
    filename: str


def repin(
    workspace: Workspace,
    debs: Iterable[DebRequest],
    files: Iterable[FileRequest],
    *,
    expired: Set[str] = frozenset(),
    clock: Clock = lambda: datetime.now(timezone.utc),
) -> Pins:
    """Return pins for what the archive and the indexes have today.

    expired: suites whose signed Release file may be past its Valid-Until. Raises IntegrityError for
    a bad signature, an expired suite or bytes that differ from the index, FetchError for what is
    not available, UsageError for what does not exist.
    """
    stop = threading.Event()
    found = deb_pins(workspace, sorted(set(debs)), stop, expired, clock)
    return Pins(
        debs=tuple(pin for each, pins in found.items() if not each.is_source for pin in pins),
        files=pin_files(workspace, sorted(set(files)), stop),
        sources=tuple(pin for each, pins in found.items() if each.is_source for pin in pins),
    )


def difference(old: Pins, new: Pins) -> list[str]:
    """Return a line for each change, for people."""
    before, after = _labelled(old), _labelled(new)
    lines = []
    for label in before.keys() & after.keys():
        was, now = before[label], after[label]
        if was.version != now.version:
            lines.append(f"changed  {label} {was.version} -> {now.version}")
        elif was.sha256 != now.sha256:
            lines.append(
                f"OTHER BYTES under the same version: {label} {now.version}: "
                f"sha256 {was.sha256} -> {now.sha256}"
            )
    removed = {label: before[label] for label in before.keys() - after.keys()}
    added = {label: after[label] for label in after.keys() - before.keys()}
    # The name of an index file contains its version: if one file of a project was removed and one
    # added, it is another version of the same file.
    for project in {canonical(pin.name) for pin in added.values() if isinstance(pin, IndexPin)}:
        went, came = _files_of(project, removed), _files_of(project, added)
        if len(went) == len(came) == 1:
            was, now = removed.pop(went[0]), added.pop(came[0])
            lines.append(f"changed  {project} {was.version} -> {now.version}")
    lines += [f"removed  {label} {pin.version}" for label, pin in removed.items()]
    lines += [f"added    {label} {pin.version}" for label, pin in added.items()]
    return sorted(lines)


def _labelled(pins: Pins) -> dict[str, Pin]:
    debs: dict[str, Pin] = {f"{pin.suite}/{pin.name}": pin for pin in pins.debs}
    debs |= {f"{pin.suite}/{pin.name}: {pin.filename}": pin for pin in pins.sources}
    return debs | {pin.filename: pin for pin in pins.files}


def _files_of(project: str, pins: dict[str, Pin]) -> list[str]:
    return [
        label
        for label, pin in pins.items()
        if isinstance(pin, IndexPin) and canonical(pin.name) == project
    ]


def pin_files(
    workspace: Workspace, requests: Sequence[FileRequest], stop: threading.Event
) -> tuple[IndexPin, ...]:
    """Return pins for files of the user's indexes, in the same order; they are in the cache then.

    Raises FetchError for a file that no index has, IntegrityError if one has other bytes than its
    index says.
    """
    if not requests:
        return ()
    settings = pip_settings()
    web = pip_web(stop, settings)
    indexes = indexes_of(web, settings)
    links = parallel_map(lambda file: _link(indexes, file), requests, stop)
    with download_progress(len(requests), None) as progress:
        return tuple(
            parallel_map(
                lambda each: _file_pin(workspace, web, *each, progress),
                list(zip(requests, links, strict=True)),
                stop,
            )
        )


def _link(indexes: Sequence[Index], file: FileRequest) -> Link:
    """Return the link to a file at the first index that has it."""
    failures: list[FetchError] = []
    for index in indexes:
        try:
            if links := index.links_to(file.name, file.filename):
                return links[0]
        except StoppedError:
            raise
        except FetchError as error:
            failures.append(error)
    for failure in failures:
        if not isinstance(failure, MissingError):
            raise failure
    asked = ", ".join(public_url(index.address_of(file.name)) for index in indexes)
    raise FetchError(
        f"{file.name} {file.version}: no index has {file.filename}",
        expected=f"{file.filename} at one of: {asked}",
        fix="check the spelling, or add the index that has it to pip's configuration",
    )


def _file_pin(
    workspace: Workspace, web: Web, request: FileRequest, link: Link, progress: DownloadProgress
) -> IndexPin:
    """Download a file into the cache and pin its bytes."""

    def pin(size: int, sha256: str) -> IndexPin:
        return IndexPin(
            name=request.name,
            version=request.version,
            filename=request.filename,
            size=size,
            sha256=sha256,
        )

    if link.sha256:
        cached = pin(1, link.sha256)
        if cached_sha256(workspace, cached) == link.sha256:
            return pin(cached_path(workspace, cached).stat().st_size, link.sha256)
    part = workspace.cache / "sources" / "unpinned" / request.filename
    with hold_lock(part, request.filename), progress.file(request.filename, None, 0) as advance:
        with explain_disk_errors(part):
            part.unlink(missing_ok=True)
        download(web, link.url, part, None, advance)
        return _store(workspace, part, link, pin)


def _store(
    workspace: Workspace, part: Path, link: Link, pin: Callable[[int, str], IndexPin]
) -> IndexPin:
    with explain_disk_errors(part):
        pinned = pin(part.stat().st_size, sha256_of(part))
        if link.sha256 not in (None, pinned.sha256):
            part.unlink()
            raise IntegrityError(
                f"{pinned.filename} from {public_url(link.url)} differs from the index",
                expected=f"sha256 {link.sha256}",
                found=f"sha256 {pinned.sha256}",
                fix="try again; if it persists, ask the operator of this index",
            )
        target = cached_path(workspace, pinned)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.chmod(0o444)
        part.replace(target)
    return pinned
