"""Pinned files from the cache, or from the user's mirrors: checked at every use."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path, cached_sha256
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import Pin


def fetch(workspace: Workspace, pins: Iterable[Pin], *, offline: bool = False) -> dict[Pin, Path]:
    """Return where each pinned file lies in the cache, fetching what is not there.

    Every file's SHA-256 is checked before its path is returned; a cached file with other bytes is
    thrown away and fetched again. Raises FetchError where a file cannot be had, IntegrityError
    where a mirror's bytes are not the pinned ones, DiskError where the disk refuses.
    """
    paths = {pin: cached_path(workspace, pin) for pin in pins}
    # One job a path: two pins may be the same file (a deb that is in two suites).
    jobs = list({path: pin for pin, path in paths.items()}.values())
    stop = threading.Event()
    found = dict(
        zip(jobs, parallel_map(partial(cached_sha256, workspace), jobs, stop), strict=True)
    )
    lacking = [pin for pin in jobs if found[pin] != pin.sha256]
    if lacking and offline:
        first = lacking[0]
        more = f", and {len(lacking) - 1} more files" if len(lacking) > 1 else ""
        raise FetchError(
            f"{cached_path(workspace, first)}: {'wrong' if found[first] else 'not there'}{more}",
            expected=f"sha256 {first.sha256}",
            found=f"sha256 {found[first]}" if found[first] else "no file",
            fix="run it once with a network: the files will be fetched, and kept",
        )
    if lacking:
        # Loaded here: most runs find all in the cache and are spared the time of loading an HTTP
        # library.
        from stacks.sources.retrieve import retrieve

        retrieve(workspace, lacking, stop)
    return paths
