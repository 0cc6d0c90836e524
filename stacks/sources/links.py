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
    return [
        link
        for link in _links(root)
        if resolve(root, str(link.relative_to(root)), absolute=absolute) is None
    ]


def _links(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_symlink())


def resolve(root: Path, name: str, *, absolute: bool = True) -> Path | None:
    """Return the path without links that a relative `name` stands for below `root`.

    It need not exist. absolute: whether `/` in a link stands for `root`; else such a link leads
    out. Returns None for a path that leads out of `root` or in a circle.
    """
    place: list[str] = []
    rest, followed = name.split("/"), 0
    # Step by step, because `..` leads to another folder behind a link.
    while rest:
        part = rest.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            if not place:
                return None
            place.pop()
            continue
        path = root.joinpath(*place, part)
        if not path.is_symlink():
            place.append(part)
            continue
        target = os.fspath(path.readlink())
        if target.startswith("/"):
            if not absolute:
                return None
            place = []
        rest[:0] = target.split("/")
        followed += 1
        if followed > LONGEST_CHAIN:
            return None
    return root.joinpath(*place)
