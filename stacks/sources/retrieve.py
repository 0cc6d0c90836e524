"""Download of pinned files into the cache, from mirrors, package indexes and channels."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from stacks.core.disk import explain_disk_errors, hold_lock, sha256_of
from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path, cached_sha256
from stacks.sources.debian_mirrors import (
    WHEEL_FILE,
    WHEEL_ORIGIN,
    EndedReleases,
    Wheel,
    current_mirrors,
)
from stacks.sources.download import download
from stacks.sources.mirrors import PipSettings, pip_settings, public_url
from stacks.sources.package_index import FileQuery, Link, ProjectFiles, look_up
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pin, canonical, read_pins, total_size
from stacks.sources.progress import DownloadProgress, download_progress
from stacks.sources.source import Source, archive_error, raise_missing, worst
from stacks.sources.web import MissingError, StoppedError, Web, environment_web, pip_web


def retrieve(workspace: Workspace, pins: Sequence[Pin], stop: threading.Event) -> None:
    """Download every pinned file into the cache and check it.

    Raises FetchError, IntegrityError or DiskError; finished files stay, and partial downloads
    resume next time.
    """
    sources = _deb_sources(workspace, [pin for pin in pins if isinstance(pin, DebPin)], stop)
    sources |= _index_sources([pin for pin in pins if isinstance(pin, IndexPin)], stop)
    sources |= _channel_sources([pin for pin in pins if isinstance(pin, CondaPin)], stop)
    with download_progress(len(pins), total_size(pins)) as progress:
        missing = parallel_map(
            lambda pin: _retrieve_one(workspace, pin, sources[pin], progress), pins, stop
        )
    raise_missing([pin for pin, absent in zip(pins, missing, strict=True) if absent], sources)


def address_wheel(workspace: Workspace) -> Wheel:
    """Return the function that gives the wheel with the addresses of Debian's archive."""

    def wheel() -> Path:
        pin = read_pins(workspace.sources_lock).file(WHEEL_FILE)
        if cached_sha256(workspace, pin) != pin.sha256:
            note = f"fetching the addresses of Debian's archive: {WHEEL_ORIGIN}, once"
            print(note, file=sys.stderr, flush=True)
            # Its failure must not stop the run that it is for.
            retrieve(workspace, [pin], threading.Event())
        return cached_path(workspace, pin)

    return wheel


def project_files(
    web: Web, settings: PipSettings, queries: Iterable[tuple[str, FileQuery]]
) -> dict[str, ProjectFiles]:
    """Return the files in the package indexes for pairs of project and query, by canonical name."""
    projects: dict[str, set[FileQuery]] = {}
    for project, query in queries:
        projects.setdefault(canonical(project), set()).add(query)

    def one(project: str) -> ProjectFiles:
        return look_up(web, settings, project, frozenset(projects[project]))

    return dict(zip(projects, parallel_map(one, list(projects), web.stop), strict=True))


def _deb_sources(
    workspace: Workspace, pins: Sequence[DebPin], stop: threading.Event
) -> dict[Pin, Source]:
    if not pins:
        return {}
    wheel = address_wheel(workspace)
    mirrors = current_mirrors(wheel)
    web = replace(environment_web(stop), roots=tuple(mirror.url for mirror in mirrors))
    origins = tuple(public_url(mirror.url) for mirror in mirrors)
    ended = EndedReleases(wheel)

    def archived(pin: DebPin) -> tuple[str, ...]:
        return tuple(f"{root}/{pin.path}" for root in ended.roots())

    return {
        pin: Source(
            web,
            tuple(f"{mirror.url}/{pin.path}" for mirror in mirrors),
            origins,
            archived=partial(archived, pin),
            archives=ended.origins,
        )
        for pin in pins
    }


def _index_sources(pins: Sequence[IndexPin], stop: threading.Event) -> dict[Pin, Source]:
    if not pins:
        return {}
    settings = pip_settings()
    web = pip_web(stop, settings)
    queries = [(pin.name, FileQuery(pin.filename, pin.sha256)) for pin in pins]
    projects = project_files(web, settings, queries)
    sources: dict[Pin, Source] = {}
    for pin in pins:
        project = projects[canonical(pin.name)]
        urls = _urls(pin, project.links_to(pin.filename))
        more = partial(_more_urls, web, settings, pin, len(project.tried))
        sources[pin] = Source(web, urls, project.tried, more)
    return sources


def _more_urls(web: Web, settings: PipSettings, pin: IndexPin, after: int) -> tuple[str, ...]:
    """Return a file's links at the indexes that were not asked before."""
    query = FileQuery(pin.filename, pin.sha256)
    try:
        files = look_up(web, settings, pin.name, frozenset({query}), after)
        return _urls(pin, files.links_to(pin.filename))
    except StoppedError:
        raise
    except (FetchError, IntegrityError):
        # The first failure is the one to show.
        return ()


def _channel_sources(pins: Sequence[CondaPin], stop: threading.Event) -> dict[Pin, Source]:
    if not pins:
        return {}
    # Loaded here: it imports conda's own code, and few runs have another channel.
    from stacks.sources.condarc import conda_web

    web = conda_web(stop, pins[0].urls[0])
    return {pin: Source(web, pin.urls, tuple(public_url(url) for url in pin.urls)) for pin in pins}


def _urls(pin: IndexPin, links: Sequence[Link]) -> tuple[str, ...]:
    """Return the links that may have the pinned bytes, those with the pinned SHA-256 first."""
    sure = [link.url for link in links if link.sha256 == pin.sha256]
    unsure = [link.url for link in links if link.sha256 is None]
    if links and not sure and not unsure:
        raise IntegrityError(
            f"{pin.filename}: the index has other bytes under this name",
            expected=f"sha256 {pin.sha256}",
            found=f"sha256 {links[0].sha256} at {public_url(links[0].url)}",
            fix="check which index of pip's configuration has it; `./invoke pin` accepts it",
        )
    return (*sure, *unsure)


def _retrieve_one(
    workspace: Workspace, pin: Pin, source: Source, progress: DownloadProgress
) -> bool:
    """Download one file into the cache; return whether every server answered that it is missing."""
    target = cached_path(workspace, pin)
    with hold_lock(target, pin.filename):
        digest = cached_sha256(workspace, pin)
        if digest == pin.sha256:
            return False
        if digest is not None:
            note = f"{target}: deleted: expected sha256 {pin.sha256}, found {digest}"
            print(note, file=sys.stderr, flush=True)
            with explain_disk_errors(target):
                shutil.rmtree(target) if target.is_dir() else target.unlink()
        attempt = partial(_try, web=source.web, pin=pin, target=target, progress=progress)
        failures: list[StacksError] = []
        for url in source.all_urls():
            failure = attempt(url)
            if failure is None:
                return False
            failures.append(failure)
        if any(isinstance(failure, MissingError) for failure in failures):
            archive_failures = []
            for url in source.archived():
                failure = attempt(url)
                if failure is None:
                    return False
                archive_failures.append(failure)
            if error := worst(archive_failures):
                failures.append(archive_error(pin, source, error))
    if error := worst(failures):
        raise error
    return True


def _try(
    url: str, web: Web, pin: Pin, target: Path, progress: DownloadProgress
) -> StacksError | None:
    """Download a file from one URL; return the error, None if there is none."""
    try:
        _retrieve_from(url, web, pin, target, progress)
    except StoppedError:
        raise
    except (FetchError, IntegrityError) as error:
        return error
    return None


def _retrieve_from(url: str, web: Web, pin: Pin, target: Path, progress: DownloadProgress) -> None:
    part = target.with_name(f"{target.name}.part")
    already = part.stat().st_size if part.exists() else 0
    with progress.file(pin.filename, pin.size, already) as advance:
        digest = _download(url, web, part, pin, advance)
        if digest != pin.sha256:
            digest = _download(url, web, part, pin, advance)
    if digest != pin.sha256:
        raise IntegrityError(
            f"{pin.filename} from {public_url(url)}: its bytes are not the pinned ones, twice",
            expected=f"sha256 {pin.sha256}, {pin.size} bytes",
            found=f"sha256 {digest}",
            fix="try another mirror or index; if the change is right, "
            + ("lock again" if isinstance(pin, CondaPin) else "`./invoke pin` shows it"),
        )
    with explain_disk_errors(target):
        part.chmod(0o444)
        part.replace(target)


def _download(url: str, web: Web, part: Path, pin: Pin, advance: Callable[[int], None]) -> str:
    """Download all of a file and return its SHA-256; delete it if that is wrong."""
    download(web, url, part, pin.size, advance)
    with explain_disk_errors(part):
        digest = sha256_of(part)
        if digest != pin.sha256:
            advance(-part.stat().st_size)
            part.unlink()
    return digest
