"""Pinned files in the cache."""

from __future__ import annotations

import re
from pathlib import Path

from stacks.core.disk import explain_disk_errors, sha256_of
from stacks.core.errors import IntegrityError
from stacks.core.models import FILE_NAME, IN_WORDS, SHA256
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pin


def cached_path(workspace: Workspace, pin: Pin) -> Path:
    """Return the path of a pinned file in the cache, whether or not it is there.

    Raises IntegrityError if the path would leave its folder: an index of the network may have named
    the file.
    """
    for text, pattern in ((pin.filename, FILE_NAME), (pin.sha256, SHA256)):
        if not re.fullmatch(pattern, text):
            raise IntegrityError(
                f"{pin.name} {pin.version} cannot be a file of the cache",
                expected=IN_WORDS[pattern],
                found=repr(text),
            )
    folder = workspace.cache / "sources" / "sha256" / pin.sha256[:2] / pin.sha256
    return folder / pin.filename


def cached_sha256(workspace: Workspace, pin: Pin) -> str | None:
    """Return the SHA-256 of the cached bytes of a pinned file, None if there are none.

    It is "a folder" if one stands in the file's place.
    """
    path = cached_path(workspace, pin)
    with explain_disk_errors(path):
        try:
            return sha256_of(path)
        except FileNotFoundError:
            return None
        except IsADirectoryError:
            return "a folder"
