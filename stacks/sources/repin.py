"""Pin anew, on purpose: debs by the archive's signature, index files by their own bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import explained, locked, sha256_of
from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path, cached_sha256
from stacks.sources.debian_archive import DebWanted, deb_pins
from stacks.sources.download import download
from stacks.sources.mirrors import pip_settings, shown
from stacks.sources.package_index import Link, Sought
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import IndexPin, Pin, Pins, canonical
from stacks.sources.progress import Board, board
from stacks.sources.retrieve import offers
from stacks.sources.web import Web, pip_web


@dataclass(frozen=True, order=True)
class FileWanted:
    """A file of the package index to pin."""

    name: str
    version: str
    filename: str


def repin(workspace: Workspace, debs: Iterable[DebWanted], files: Iterable[FileWanted]) -> Pins:
    """Return pins for what the archive and the indexes have today.

    Raises IntegrityError for a bad signature or bytes that differ from what an index says,
    FetchError for what cannot be had, UsageError for what does not exist.
    """
    stop = threading.Event()
    return Pins(
        debs=deb_pins(sorted(set(debs)), stop),
        files=_file_pins(workspace, sorted(set(files)), stop),
    )


def difference(old: Pins, new: Pins) -> list[str]:
    """Return what changed, a line each, for people; nothing where nothing did."""
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
    # The name of an index file has its version in it: a project's only file that went and its
    # only one that came are the same thing in two versions.
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
    return debs | {pin.filename: pin for pin in pins.files}


def _files_of(project: str, pins: dict[str, Pin]) -> list[str]:
    return [
        label
        for label, pin in pins.items()
        if isinstance(pin, IndexPin) and canonical(pin.name) == project
    ]


def _file_pins(
    workspace: Workspace, wanted: list[FileWanted], stop: threading.Event
) -> tuple[IndexPin, ...]:
    if not wanted:
        return ()
    settings = pip_settings()
    web = pip_web(stop, settings)
    offered = offers(web, settings, [(file.name, Sought(file.filename)) for file in wanted])
    links: dict[FileWanted, Link] = {}
    for file in wanted:
        offer = offered[canonical(file.name)]
        found = offer.of(file.filename)
        if not found:
            raise FetchError(
                f"{file.name} {file.version}: no index has {file.filename}",
                expected=f"{file.filename} at one of: {', '.join(offer.tried)}",
                fix="look at the spelling, or add the index that has it to pip's configuration",
            )
        links[file] = found[0]
    with board(len(wanted), None) as seen:
        return tuple(
            parallel_map(
                lambda file: _file_pin(workspace, web, file, links[file], seen), wanted, stop
            )
        )


def _file_pin(
    workspace: Workspace, web: Web, wanted: FileWanted, link: Link, seen: Board
) -> IndexPin:
    """Download a file into the cache and pin the bytes that came."""

    def pin(size: int, sha256: str) -> IndexPin:
        return IndexPin(
            name=wanted.name,
            version=wanted.version,
            filename=wanted.filename,
            size=size,
            sha256=sha256,
        )

    if link.sha256:
        cached = pin(1, link.sha256)
        if cached_sha256(workspace, cached) == link.sha256:
            return pin(cached_path(workspace, cached).stat().st_size, link.sha256)
    part = workspace.cache / "sources" / "unpinned" / wanted.filename
    with locked(part, wanted.filename), seen.file(wanted.filename, None, 0) as advance:
        with explained(part):
            part.unlink(missing_ok=True)
        download(web, link.url, part, None, advance)
        return _kept(workspace, part, link, pin)


def _kept(
    workspace: Workspace, part: Path, link: Link, pin: Callable[[int, str], IndexPin]
) -> IndexPin:
    with explained(part):
        made = pin(part.stat().st_size, sha256_of(part))
        if link.sha256 not in (None, made.sha256):
            part.unlink()
            raise IntegrityError(
                f"{made.filename} from {shown(link.url)}: not the bytes that the index announces",
                expected=f"sha256 {link.sha256}",
                found=f"sha256 {made.sha256}",
                fix="try again; if it stays, ask whoever runs this index",
            )
        target = cached_path(workspace, made)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)
    return made
