"""DOC."""

from __future__ import annotations

from pathlib import Path

from stacks.core.disk import explained, sha256_of
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pin


def cached_path(workspace: Workspace, pin: Pin) -> Path:
    """Return where the cache keeps a pinned file."""
    folder = workspace.cache / "sources" / "sha256" / pin.sha256[:2] / pin.sha256
    return folder / pin.filename


def cached_sha256(workspace: Workspace, pin: Pin) -> str | None:
    """Return the SHA-256 of what the cache has in a pinned file's place, None for nothing."""
    path = cached_path(workspace, pin)
    with explained(path):
        try:
            return sha256_of(path)
        except FileNotFoundError:
            return None
