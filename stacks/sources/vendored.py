"""Pinned files in a vendored folder, which `./invoke vendor` writes.

It has the layout of the cache below `sources/`, a channel below `channel/`, and the wheels of the
tools in `tools/`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from stacks.core.disk import hold_lock, sha256_of, temporary_folder
from stacks.core.errors import UsageError
from stacks.core.paths import expanded
from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path
from stacks.sources.pins import Pin

VARIABLE = "THEANO_STACKS_VENDOR"
# In a vendored folder: the packages, the tools' wheels, and the digests of all other files.
CHANNEL, TOOLS, DIGESTS = "channel", "tools", "vendor.sha256"


def vendored_folder() -> Path | None:
    """Return the folder that THEANO_STACKS_VENDOR names, None if it is not set.

    Raises UsageError if there is no such folder.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    folder = expanded(text).absolute()
    if not folder.is_dir():
        raise UsageError(
            f"{VARIABLE} names no folder",
            found=text,
            fix="correct it, or unset it; `./invoke vendor DIR` writes one",
        )
    return folder


def pip_options() -> list[str]:
    """Return the options by which pip takes the tools' wheels from the vendored folder, if any."""
    folder = vendored_folder()
    return ["--no-index", "--find-links", str(folder / TOOLS)] if folder else []


def vendored_path(folder: Path, pin: Pin) -> Path:
    """Return the path of a pinned file in a vendored folder, whether or not it is there."""
    return cached_path(Workspace(folder, folder), pin)


def take(workspace: Workspace, pins: Iterable[Pin]) -> list[Pin]:
    """Copy pinned files from the vendored folder into the cache; return those that it lacks.

    A file with other bytes than the pinned ones counts as missing, with a warning.
    """
    folder = vendored_folder()
    if folder is None:
        return list(pins)
    return [pin for pin in pins if not _take_one(workspace, folder, pin)]


def _take_one(workspace: Workspace, folder: Path, pin: Pin) -> bool:
    source, target = vendored_path(folder, pin), cached_path(workspace, pin)
    if not source.is_file():
        return False
    with (
        hold_lock(target, pin.filename),
        temporary_folder(target.parent, f".{target.name}.", ".part") as scratch,
    ):
        copy = scratch / target.name
        shutil.copyfile(source, copy)
        digest = sha256_of(copy)
        if digest == pin.sha256:
            copy.chmod(0o444)
            copy.replace(target)
            return True
    note = f"warning: {source}: expected sha256 {pin.sha256}, found {digest}"
    print(f"{note}; trying elsewhere", file=sys.stderr, flush=True)
    return False
