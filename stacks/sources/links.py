"""Symbolic links of an unpacked tree, which may not lead out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# As the kernel's own limit: path_resolution(7).
LONGEST_CHAIN = 40


def make_relative(root: Path) -> None:
    """Replace each absolute link below `root` by a relative one: `/` stands for `root`."""
    for link in _links(root):
        target = os.fspath(link.readlink())
        if target.startswith("/"):
            # All the way up: a shorter path could have another meaning where `..` follows a link.
            up = "../" * (len(link.relative_to(root).parts) - 1)
            link.unlink()
            link.symlink_to(f"{up}{target.lstrip('/')}" or ".")


def leading_out(root: Path, *, absolute: bool = False) -> list[Path]:
    """Return the links below `root` that lead out of it or in a circle, sorted.

    absolute: whether `/` stands for `root`; else an absolute link leads out.
    """
    return [link for link in _links(root) if not _stays_inside(root, link, absolute)]


def _links(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_symlink())


def _stays_inside(root: Path, link: Path, absolute: bool) -> bool:
    """Follow a link step by step, because `..` leads to another folder behind a link."""
    *place, name = link.relative_to(root).parts
    rest, followed = [name], 0
    while rest:
        part = rest.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            if not place:
                return False
            place.pop()
            continue
        path = root.joinpath(*place, part)
        if not path.is_symlink():
            place.append(part)
            continue
        target = os.fspath(path.readlink())
        if target.startswith("/"):
            if not absolute:
                return False
            place = []
        rest[:0] = target.split("/")
        followed += 1
        if followed > LONGEST_CHAIN:
            return False
    return True
