"""Pinned files from the cache, a vendored folder or the user's mirrors, checked at every use."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources.mirrors import vendored_folder
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import Pin, cached_path, digest_at


def fetch(workspace: Workspace, pins: Iterable[Pin], *, offline: bool = False) -> dict[Pin, Path]:
    """Return the path of each pinned file in the cache; fetch the missing ones.

    Every file's SHA-256 is checked. A cached file with other bytes is deleted and fetched again.
    Raises FetchError if a file is not available, IntegrityError if a mirror's bytes are not the
    pinned ones, DiskError.
    """
    paths = {pin: cached_path(workspace, pin) for pin in pins}
    # One job for each path: two pins may be the same file (a deb in two suites).
    jobs = list({path: pin for pin, path in paths.items()}.values())
    stop = threading.Event()
    digests = dict(
        zip(jobs, parallel_map(lambda pin: digest_at(paths[pin]), jobs, stop), strict=True)
    )
    missing = [pin for pin in jobs if digests[pin] != pin.sha256]
    if missing and (vendored_folder() or not offline):
        # Loaded here: most runs find all in the cache and need no HTTP library.
        from stacks.sources import retrieve
        from stacks.sources.places import vendored_places

        missing = list(retrieve.retrieve(workspace, missing, vendored_places(stop))[1])
        if missing and not offline:
            retrieve.fetch_sources(workspace, missing, stop)
            return paths
    if missing:
        first = missing[0]
        more = f", and {len(missing) - 1} more files" if len(missing) > 1 else ""
        raise FetchError(
            f"{cached_path(workspace, first)}: {'wrong' if digests[first] else 'missing'}{more}",
            expected=f"sha256 {first.sha256}",
            found=f"sha256 {digests[first]}" if digests[first] else "no file",
            fix="run it once with a network: the cache keeps the files",
        )
    return paths
