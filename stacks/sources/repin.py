"""New pins: of debs by the archive's signature, of index files by their bytes."""

import threading
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from datetime import datetime, timezone

from stacks.core.disk import explain_disk_errors, hold_lock, sha256_of
from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.debian_archive import Clock, DebRequest, deb_pins
from stacks.sources.download import download
from stacks.sources.mirrors import public_url
from stacks.sources.package_index import Index, Link, indexes_of, pip_settings
from stacks.sources.parallel import DownloadProgress, download_progress, parallel_map
from stacks.sources.pins import IndexFile, IndexPin, Pin, Pins, cached_path, canonical, digest_at
from stacks.sources.web import MissingError, Web


def repin(
    workspace: Workspace,
    debs: Iterable[DebRequest],
    files: Iterable[IndexFile],
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
    before, after = _by_kind(old), _by_kind(new)
    lines = [f"removed  {_label(*before[kind])}" for kind in before.keys() - after.keys()]
    lines += [f"added    {_label(*after[kind])}" for kind in after.keys() - before.keys()]
    for kind in before.keys() & after.keys():
        (name, was), (_, now) = before[kind], after[kind]
        if was.version != now.version:
            lines.append(f"changed  {name} {was.version} -> {now.version}")
        elif was.sha256 != now.sha256:
            lines.append(
                f"OTHER BYTES under the same version: {_label(name, now)}: "
                f"sha256 {was.sha256} -> {now.sha256}"
            )
    return sorted(lines)


def _by_kind(pins: Pins) -> dict[str, tuple[str, Pin]]:
    """Return names and pins by what stays the same from one version to the next."""
    debs = {f"{pin.suite}/{pin.name}": pin for pin in pins.debs}
    debs |= {f"{pin.suite}/{pin.name}: {pin.filename}": pin for pin in pins.sources}
    kinds: dict[str, tuple[str, Pin]] = {name: (name, pin) for name, pin in debs.items()}
    for pin in pins.files:
        name = canonical(pin.name)
        kinds[f"{name} {pin.filename.replace(pin.version, '')}"] = (name, pin)
    return kinds


def _label(name: str, pin: Pin) -> str:
    return f"{pin.filename if isinstance(pin, IndexPin) else name} {pin.version}"


def pin_files(
    workspace: Workspace, requests: Sequence[IndexFile], stop: threading.Event
) -> tuple[IndexPin, ...]:
    """Return pins for files of the user's indexes, in the same order; they are in the cache then.

    Raises FetchError for a file that no index has, IntegrityError if one has other bytes than its
    index says.
    """
    if not requests:
        return ()
    indexes = indexes_of(stop, pip_settings())
    links = parallel_map(lambda file: _link(indexes, file), requests, stop)
    with download_progress(len(requests), None) as progress:
        return tuple(
            parallel_map(
                lambda each: _file_pin(workspace, *each, progress),
                list(zip(requests, links, strict=True)),
                stop,
            )
        )


def _link(indexes: Sequence[Index], file: IndexFile) -> tuple[Web, Link]:
    """Return the first index's access and its link to a file."""
    failures: list[FetchError] = []
    for index in indexes:
        try:
            if links := index.links_to(file.project, file.file):
                return index.web, links[0]
        except FetchError as error:
            failures.append(error)
    for failure in failures:
        if not isinstance(failure, MissingError):
            raise failure
    asked = ", ".join(public_url(index.address_of(file.project)) for index in indexes)
    raise FetchError(
        f"{file.project} {file.version}: no index has {file.file}",
        expected=f"{file.file} at one of: {asked}",
        fix="check the spelling, or add the index that has it to pip's configuration",
    )


def _file_pin(
    workspace: Workspace, request: IndexFile, found: tuple[Web, Link], progress: DownloadProgress
) -> IndexPin:
    """Download a file into the cache and pin its bytes."""
    web, link = found
    filename, sha256 = request.file, link.sha256 or "0" * 64
    pin = IndexPin(
        name=request.project, version=request.version, filename=filename, size=0, sha256=sha256
    )
    cached = cached_path(workspace.cache, pin)
    if link.sha256 and digest_at(cached) == link.sha256:
        return replace(pin, size=cached.stat().st_size)
    part = workspace.cache / "sources" / "unpinned" / filename
    with hold_lock(part, filename):
        with explain_disk_errors(part):
            part.unlink(missing_ok=True)
        download(web, link.url, part, None, progress.advance)
        with explain_disk_errors(part):
            pin = replace(pin, size=part.stat().st_size, sha256=sha256_of(part))
            if link.sha256 not in (None, pin.sha256):
                part.unlink()
                raise IntegrityError(
                    f"{filename} from {public_url(link.url)} differs from the index",
                    expected=f"sha256 {link.sha256}",
                    found=f"sha256 {pin.sha256}",
                    fix="try again; if it persists, ask the operator of this index",
                )
            target = cached_path(workspace.cache, pin)
            target.parent.mkdir(parents=True, exist_ok=True)
            part.chmod(0o444)
            part.replace(target)
    progress.finished += 1
    return pin
