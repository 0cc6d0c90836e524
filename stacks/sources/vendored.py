"""Pinned files in a vendored folder, which `./invoke vendor` writes.

It has the layout of the cache below `sources/`, a channel below `channel/`, and the wheels of the
tools in `tools/`.
"""

from __future__ import annotations

import os
from pathlib import Path

from stacks.core.errors import UsageError
from stacks.core.paths import expanded
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pin, cached_path

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
