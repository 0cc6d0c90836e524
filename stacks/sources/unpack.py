"""Unpack debs, tar archives and zip archives, never outside of the target folder.

One class writes the members of all formats, by the same rules; those of conda packages too.
"""

from __future__ import annotations

import errno
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import IntegrityError, StacksError
from stacks.core.models import LINE
from stacks.sources.archives import (
    BLOCK,
    FILE,
    FOLDER,
    HARD_LINK,
    LINK,
    BrokenError,
    Member,
    deb_section,
    tar_members,
    zip_members,
)

# The most that an archive may unpack to: the project's sources have 11 times their size.
LEAST_LIMIT, LARGEST_RATIO = 64 << 20, 100
# As the kernel's own limit: path_resolution(7).
LONGEST_CHAIN = 40
# Of the OSErrors, those that an archive can cause: paths that no disk can have, and without a
# number those of gzip and bz2.
BROKEN_NUMBERS = (None, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ELOOP)


def unpack_deb(deb: Path, target: Path) -> None:
    """Write the files of a deb (deb(5)) into the folder `target`, which is made if missing.

    Symbolic links are written unchanged and never followed; where one is absolute, `/` stands for
    `target`, and none may lead out of it. A hard link may only name a file of the deb. Owners and
    the setuid, setgid and sticky bits are dropped. Raises IntegrityError for a deb that is broken,
    has a device, unpacks to far more than its size, or names a path outside `target`; DiskError.
    """
    with _unpacking(deb, target) as tree, deb.open("rb") as file:
        for member in tar_members(deb_section(file, "data.tar"), limit_of(deb)):
            tree.add(member)
        _check_links(target, absolute=True)


def unpack_tar(archive: Path, target: Path) -> None:
    """Write the files of a tar archive, compressed or not, as unpack_deb does those of a deb.

    Raises IntegrityError for an absolute link, too.
    """
    with _unpacking(archive, target) as tree, archive.open("rb") as file:
        for member in tar_members(file, limit_of(archive)):
            tree.add(member)
        _check_links(target, absolute=False)


def unpack_zip(
    archive: Path, target: Path, place: Callable[[str], str | None] = lambda name: name
) -> None:
    """Write the files of a zip archive as unpack_deb does those of a deb, with mode 644 or 755.

    `place` returns the path below `target` of a member by its name, or None to leave it out.
    Raises IntegrityError for a link, for two members of one path, and for a path that exists.
    """
    with _unpacking(archive, target, replaces=False) as tree, zipfile.ZipFile(archive) as file:
        for member in zip_members(file, limit_of(archive)):
            checked_path(member.name)
            name = place(member.name)
            if name is not None:
                tree.add(replace(member, name=name))


def read_control(deb: Path) -> bytes:
    """Return a deb's `control` file (deb-control(5)): its name, version and dependencies.

    Raises IntegrityError for a deb that is broken or has no such file.
    """
    with reported(f"{deb}: cannot be unpacked safely"), deb.open("rb") as file:
        for member in tar_members(deb_section(file, "control.tar"), limit_of(deb)):
            content = member.read() if checked_path(member.name) == "control" else None
            if content:
                return content.read()
        raise BrokenError("it has no control file")


@contextmanager
def reported(
    what: str,
    expected: str = "an archive with ordinary files below one folder",
    found: Path | None = None,
    fix: str = "delete this file, so that it is fetched again; if it comes back the same, pin "
    "another version",
) -> Iterator[None]:
    """Turn faults of an archive into an IntegrityError; `what` names the archive.

    Those are all errors but ours and the disk's: no list says what the readers of the standard
    library and zstandard raise for broken archives.
    """
    try:
        yield
    except (StacksError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in BROKEN_NUMBERS:
            raise
        raise IntegrityError(f"{what}: {error}", expected=expected, found=found, fix=fix) from error


@contextmanager
def _unpacking(archive: Path, target: Path, *, replaces: bool = True) -> Iterator[Tree]:
    """Make `target` and give it as a tree; turn what the disk refuses into a DiskError."""
    with explain_disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        with reported(f"{archive}: cannot be unpacked safely"):
            yield Tree(target, replaces=replaces)


def limit_of(archive: Path) -> int:
    """Return the bytes that an archive may unpack to."""
    return LEAST_LIMIT + LARGEST_RATIO * archive.stat().st_size


class Tree:
    """The members of an archive by their paths, written below a folder, or checked only.

    target: the folder; None to write nothing. replaces: whether a file may take the path of another
    file or link.
    """

    def __init__(self, target: Path | None, *, replaces: bool) -> None:
        self._target, self._replaces = target, replaces
        self._kinds: dict[str, str | None] = {"": FOLDER}

    def add(self, member: Member, use: Callable[[bytes], object] = len) -> str:
        """Write a member and return its path, "" for the folder itself.

        use: called with each block of a file's content. Raises BrokenError for what is not safe.
        """
        name = checked_path(member.name)
        # Before anything is written: a link in place of a folder would lead elsewhere.
        for folder in reversed([*parents(name)]):
            self._add_folder(folder)
        if member.kind == FOLDER:
            self._add_folder(name, member.mode)
            return name
        kind = self._kind(name)
        if kind == FOLDER:
            raise BrokenError(f"{name}: a folder has the same path")
        if kind and not self._replaces:
            raise BrokenError(f"{name}: two files have this path")
        if member.kind == LINK and not (member.target and _is_plain(member.target)):
            raise BrokenError(f"{name}: a link to {member.target!r}")
        original = checked_path(member.target) if member.kind == HARD_LINK else ""
        if member.kind == HARD_LINK and (original == name or self._kinds.get(original) != FILE):
            raise BrokenError(f"{name}: a hard link to {member.target}, which is no file")
        if member.kind not in (FILE, LINK, HARD_LINK):
            raise BrokenError(f"{name}: {member.kind}")
        path = self._target / name if self._target else None
        if path and kind:
            path.unlink()
        if member.kind == FILE:
            _write(member, path, use)
        elif path and member.kind == LINK:
            path.symlink_to(member.target)
        elif path and self._target:
            os.link(self._target / original, path, follow_symlinks=False)
        self._kinds[name] = LINK if member.kind == LINK else FILE
        return name

    def _kind(self, name: str) -> str | None:
        """Return the kind of what is at a path, None for nothing; above it are folders alone."""
        if self._target and name not in self._kinds:
            path = self._target / name
            if path.is_symlink():
                return LINK
            return FOLDER if path.is_dir() else FILE if path.exists() else None
        return self._kinds.get(name)

    def _add_folder(self, name: str, mode: int | None = None) -> None:
        kind, path = self._kind(name), self._target / name if self._target else None
        if kind not in (None, FOLDER):
            raise BrokenError(f"{name}: a {kind} is in the place of a folder")
        if path and kind is None:
            path.mkdir(mode=0o755)
        self._kinds[name] = FOLDER
        if path and name and mode is not None:
            # With all rights of the owner, because folders are filled and pruned.
            path.chmod(mode | 0o700)


def _write(member: Member, path: Path | None, use: Callable[[bytes], object]) -> None:
    source = member.read()
    if source is None:
        raise BrokenError(f"{member.name}: it has no content")
    opened: AbstractContextManager[IO[bytes] | None] = path.open("xb") if path else nullcontext()
    with source, opened as file:
        while block := source.read(BLOCK):
            use(block)
            if file:
                file.write(block)
        if file:
            file.flush()
            # Readable for its owner, because files are copied.
            os.fchmod(file.fileno(), member.mode | 0o400)
            if member.mtime is not None:
                os.utime(file.fileno(), (member.mtime, member.mtime))


def _is_plain(text: str) -> bool:
    """Return whether a text is UTF-8 without control characters and those that reorder text."""
    return bool(re.fullmatch(LINE, text)) and not re.search("[\ud800-\udfff]", text)


def checked_path(name: str) -> str:
    """Return a member's path without `./`, "" for the folder itself.

    Raises BrokenError if it leads out of the folder.
    """
    if not _is_plain(name):
        raise BrokenError(f"{name!r}: the path is not printable text in UTF-8")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise BrokenError(f"{name}: the path is outside of the folder")
    return "/".join(parts)


def parents(name: str) -> Iterator[str]:
    """Yield the folders above a relative path, the nearest first."""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


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
    links = {link.relative_to(root).as_posix(): link for link in _links(root)}
    targets = {name: os.fspath(link.readlink()) for name, link in links.items()}
    return [links[name] for name in links if leads_out(name, targets, absolute=absolute)]


def leads_out(name: str, links: Mapping[str, str], *, absolute: bool = False) -> bool:
    """Return whether a link leads out of its root, or in a circle, by itself or through others.

    It is followed step by step, because `..` leads to another folder behind a link. name: its path
    below the root. links: the targets of all links by their paths. absolute: as of leading_out.
    """
    place, rest, followed = list[str](), name.split("/"), 0
    while rest:
        step = rest.pop(0)
        if step == "..":
            if not place:
                return True
            place.pop()
        elif (target := links.get("/".join((*place, step)))) is None:
            place.append(step)
        else:
            place = [] if target.startswith("/") else place
            rest[:0] = [each for each in target.split("/") if each not in ("", ".")]
            followed += 1
            if followed > LONGEST_CHAIN or (target.startswith("/") and not absolute):
                return True
    return False


def _check_links(target: Path, *, absolute: bool) -> None:
    for link in leading_out(target, absolute=absolute):
        name = link.relative_to(target)
        raise BrokenError(f"{name}: a link to {link.readlink()}, which is outside of the folder")


def _links(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_symlink())
