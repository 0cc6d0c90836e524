"""Pinned files from the cache, a vendored folder or the user's mirrors, checked at every use."""

import threading
from collections.abc import Iterable
from pathlib import Path

from stacks.core.workspace import Workspace
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import Pin, cached_path, digest_at


def fetch(workspace: Workspace, pins: Iterable[Pin]) -> dict[Pin, Path]:
    """Return the path of each pinned file in the cache; fetch the missing ones.

    Every file's SHA-256 is checked. A cached file with other bytes is deleted and fetched again.
    Raises FetchError if a file is not available, IntegrityError if a mirror's bytes are not the
    pinned ones, DiskError.
    """
    paths = {pin: cached_path(workspace.cache, pin) for pin in pins}
    # One job for each path: two pins may be the same file (a deb in two suites).
    jobs = list({path: pin for pin, path in paths.items()}.values())
    stop = threading.Event()
    digests = parallel_map(lambda pin: digest_at(paths[pin]), jobs, stop)
    missing = [pin for pin, digest in zip(jobs, digests, strict=True) if digest != pin.sha256]
    if missing:
        # Loaded here: most runs find all in the cache and need no HTTP library.
        from stacks.sources import retrieve
        from stacks.sources.places import vendored_places

        missing = list(retrieve.retrieve(workspace, missing, vendored_places(stop))[1])
        if missing:
            retrieve.fetch_sources(workspace, missing, stop)
    return paths
