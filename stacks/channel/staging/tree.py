"""Copy and remove files of a stage; symbolic links are never followed out of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from stacks.core.errors import IntegrityError
from stacks.sources import links


def copy_tree(source: Path, target: Path, left_out: Sequence[str] = ()) -> None:
    """Copy a folder, links as links, to the new folder `target`.

    left_out: patterns of names of files and folders.
    """
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if any(fnmatch(path.name, pattern) for pattern in left_out):
            continue
        if path.is_dir() and not path.is_symlink():
            copy_tree(path, target / path.name, left_out)
        else:
            shutil.copy2(path, target / path.name, follow_symlinks=False)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_broken_links(root: Path) -> None:
    """Remove the links below a folder whose target does not exist."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink() and not path.exists():
            path.unlink()


def check_links(root: Path) -> None:
    """Raise IntegrityError for a link below the package's folder that leads out of it.

    A stage calls this after it has copied links, before it writes to what it has copied.
    """
    for link in links.leading_out(root):
        raise IntegrityError(
            f"{link.relative_to(root)}: the link leads out of the package",
            found=os.fspath(link.readlink()),
            fix="leave it out in the recipe, or pin another version of its source",
        )
