"""Help texts and parsing of options that several tasks share."""

from __future__ import annotations

import os
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.paths import expanded, is_dir
from stacks.core.workspace import default_workspace

VARIANT = "NAME, FRAMEWORK/NAME (./invoke list shows all), or the path of a stack.yaml"
CHANNEL = "take the packages from this conda channel: an address, or a name as in conda"
# What several tasks take, in the same words: described once.
SHARED = {
    "variant": VARIANT,
    "framework": "the framework of a bare NAME, such as pytensor-3.3.7 or theano-pymc (default: "
    "theano-1.0.5)",
    "channel": CHANNEL,
    "json": "also write the report to this file, as JSON",
    "full": "also run the long timings: larger matrices, and each linker of PyTensor",
}
CLUSTER = "use the machines of the dask scheduler at this address; see docs/guides/cluster.md"


def path_of(text: str) -> Path | None:
    """Return the absolute path that an option names, None for an empty option."""
    return expanded(text).absolute() if text else None


def file_of(text: str) -> Path | None:
    """Return the absolute path of the file that an option names, to be written; None for "".

    A link is followed, so that it stays. Raises UsageError for a folder.
    """
    if (path := path_of(text)) is None:
        return None
    if is_dir(path):
        raise UsageError(
            f"{display_path(path)} is a folder", expected="the name of a file", fix="add one to it"
        )
    real = Path(os.path.realpath(path))
    # /dev/stdout may lead to a pipe, which has no path.
    return real if real.exists() or not path.exists() else path


def folder_of(text: str) -> Path | None:
    """Return the absolute path of the folder that an option names, to be written; None for "".

    A link is followed, so that it stays.
    """
    path = path_of(text)
    # pathlib's own raises RuntimeError for a link to itself.
    return Path(os.path.realpath(path)) if path else None


def names_of(text: str) -> frozenset[str]:
    """Return the names in an option that lists them between commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def is_variant(word: str) -> bool:
    """Return whether a word names a variant: NAME, FRAMEWORK/NAME, NAME@CHANNEL or a file."""
    from stacks.variants.load import flavour_names

    name = word.rpartition("/")[2].partition("@")[0]
    return word.endswith((".yaml", ".yml")) or name in flavour_names(default_workspace())
