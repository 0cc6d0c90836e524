"""Unpack debs, tar archives and zip archives, never outside of the target folder.

One function writes the members of all formats, by the same rules.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from lzma import LZMAError
from pathlib import Path
from typing import IO

from zstandard import ZstdError

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import IntegrityError
from stacks.sources import links
from stacks.sources.streams import BrokenError, decompressed, limited, section_of_ar

# The most that an archive may unpack to: the project's sources have 11 times their size.
LEAST_LIMIT, LARGEST_RATIO = 64 << 20, 100
# What the readers of the standard library and zstandard raise for broken archives.
BROKEN = (
    BrokenError,
    tarfile.TarError,
    zipfile.BadZipFile,
    LZMAError,
    zlib.error,
    ZstdError,
    struct.error,
    EOFError,
    ArithmeticError,
    LookupError,
    RuntimeError,
    ValueError,
)
# Paths that no disk can have; no error number: gzip and bz2.
BROKEN_NUMBERS = (None, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ELOOP)


@dataclass(frozen=True)
class _Member:
    """A file, folder, link or hard link of an archive; `read` gives the content of a file."""

    name: str
    kind: str
    mode: int = 0
    size: int = 0
    target: str = ""
    read: Callable[[], IO[bytes] | None] = lambda: None


def unpack_deb(deb: Path, target: Path) -> None:
    """Write the files of a deb (deb(5)) into the folder `target`, which is made if missing.

    Symbolic links are written unchanged and never followed; where one is absolute, `/` stands for
    `target`, and none may lead out of it. A hard link may only name a file in `target`. Owners and
    the setuid, setgid and sticky bits are dropped. Raises IntegrityError for a deb that is broken,
    has a device, unpacks to far more than its size, or names a path outside `target`; DiskError.
    """
    with _folder(target), _reported(deb), _tar_of_deb(deb, "data.tar") as stream:
        _extract(_tar_members(stream), target, limit_of(deb))
        _check_links(target, absolute=True)


def unpack_tar(archive: Path, target: Path) -> None:
    """Write the files of a tar archive, compressed or not, as unpack_deb does those of a deb.

    Raises IntegrityError for an absolute link, too.
    """
    with _folder(target), _reported(archive), archive.open("rb") as file:
        _extract(_tar_members(_plain(file, archive)), target, limit_of(archive))
        _check_links(target, absolute=False)


def unpack_zip(
    archive: Path, target: Path, place: Callable[[str], str | None] = lambda name: name
) -> None:
    """Write the files of a zip archive as unpack_deb does those of a deb, with mode 644 or 755.

    `place` returns the path below `target` of a member by its name, or None to leave it out.
    Raises IntegrityError for a link, for two members of one path, and for a path that exists.
    """
    with _folder(target), _reported(archive), zipfile.ZipFile(archive) as file:
        _extract(_zip_members(file, place), target, limit_of(archive), replace=False)


def read_control(deb: Path) -> bytes:
    """Return a deb's `control` file (deb-control(5)): its name, version and dependencies.

    Raises IntegrityError for a deb that is broken or has no such file.
    """
    with _reported(deb), _tar_of_deb(deb, "control.tar") as stream:
        for member in _tar_members(stream):
            content = member.read() if _parts(member.name) == ("control",) else None
            if content:
                return content.read()
        raise BrokenError("it has no control file")


@contextmanager
def _reported(archive: Path) -> Iterator[None]:
    """Turn faults of an archive into an IntegrityError that names it."""
    try:
        yield
    except (*BROKEN, OSError) as error:
        if isinstance(error, OSError) and error.errno not in BROKEN_NUMBERS:
            raise
        raise IntegrityError(
            f"{archive}: cannot be unpacked safely: {error}",
            expected="an archive with ordinary files below one folder",
            fix="delete this file, so that it is fetched again; if it comes back the same, pin "
            "another version",
        ) from error


@contextmanager
def _folder(target: Path) -> Iterator[None]:
    """Make `target`, and turn what the disk refuses into a DiskError."""
    with explain_disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        yield


def limit_of(archive: Path) -> int:
    """Return the bytes that an archive may unpack to."""
    return LEAST_LIMIT + LARGEST_RATIO * archive.stat().st_size


def _plain(file: IO[bytes], archive: Path) -> IO[bytes]:
    return limited(decompressed(file), limit_of(archive))


@contextmanager
def _tar_of_deb(deb: Path, name: str) -> Iterator[IO[bytes]]:
    """Give the decompressed tar archive `name` of a deb as a stream."""
    with deb.open("rb") as file:
        yield _plain(section_of_ar(file, name), deb)


class _Header(tarfile.TarInfo):
    """A header of a tar archive; TarFile takes a broken one for the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> _Header:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise BrokenError(f"a header is broken: {error}") from error


def _tar_members(stream: IO[bytes]) -> Iterator[_Member]:
    """Yield the members of a decompressed tar archive, then read its checksum at the end."""
    with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", tarinfo=_Header) as tar:
        for member in tar:
            kind = "neither file, folder nor link"
            if member.isreg() and not member.issparse():
                kind = "file"
            elif member.isdir():
                kind = "folder"
            elif member.issym():
                kind = "link"
            elif member.islnk():
                kind = "hard link"
            read = partial(tar.extractfile, member)
            yield _Member(
                member.name, kind, member.mode & 0o777, member.size, member.linkname, read
            )
    while stream.read(1 << 20):
        pass


def _zip_members(file: zipfile.ZipFile, place: Callable[[str], str | None]) -> Iterator[_Member]:
    for member in file.infolist():
        _parts(member.orig_filename)
        name = place(member.filename)
        if name is None:
            continue
        mode = member.external_attr >> 16
        kind = "folder" if member.is_dir() else "file"
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            kind = "neither file nor folder"
        executable = 0o755 if mode & 0o111 else 0o644
        yield _Member(
            name,
            kind,
            0o755 if kind == "folder" else executable,
            member.file_size,
            read=partial(file.open, member),
        )


def _extract(members: Iterable[_Member], target: Path, limit: int, *, replace: bool = True) -> None:
    """Write members below `target`; `replace` says whether one may take the path of another."""
    for member in members:
        parts = _parts(member.name)
        limit -= member.size
        if member.size < 0 or limit < 0:
            raise BrokenError("it unpacks to far more than its size")
        if not parts:
            continue
        path = _inside(target, parts)
        if member.kind == "folder":
            _make_folder(path)
            # With all rights of the owner, because folders are filled and pruned.
            path.chmod(member.mode | 0o700)
            continue
        if _kind(path) == "folder":
            raise BrokenError(f"{member.name}: a folder has the same path")
        if _kind(path) != "nothing" and not replace:
            raise BrokenError(f"{member.name}: two files have this path")
        path.unlink(missing_ok=True)
        if member.kind == "file":
            _write(path, member)
        elif member.kind == "link":
            if not member.target.isprintable() or not member.target:
                raise BrokenError(f"{member.name}: a link to {member.target!r}")
            path.symlink_to(member.target)
        elif member.kind == "hard link":
            linked = _inside(target, _parts(member.target))
            if _kind(linked) != "file":
                raise BrokenError(
                    f"{member.name}: a hard link to {member.target}, which is no file"
                )
            os.link(linked, path, follow_symlinks=False)
        else:
            raise BrokenError(f"{member.name}: {member.kind}")


def _check_links(target: Path, *, absolute: bool) -> None:
    for link in links.leading_out(target, absolute=absolute):
        name = link.relative_to(target)
        raise BrokenError(f"{name}: a link to {link.readlink()}, which is outside of the folder")


def _parts(name: str) -> tuple[str, ...]:
    if not name.isprintable():
        raise BrokenError(f"{name!r}: the path is not printable text in UTF-8")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if name.startswith("/") or ".." in parts:
        raise BrokenError(f"{name}: the path is outside of the folder")
    return parts


def _inside(target: Path, parts: tuple[str, ...]) -> Path:
    """Return target/parts and make its parents; none of them may be a symbolic link."""
    if not parts:
        raise BrokenError("a link to the folder itself")
    folder = target
    for part in parts[:-1]:
        folder = folder / part
        _make_folder(folder)
    return folder / parts[-1]


def _kind(path: Path) -> str:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return "nothing"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "link"


def _make_folder(path: Path) -> None:
    kind = _kind(path)
    if kind == "nothing":
        path.mkdir(mode=0o755)
    elif kind != "folder":
        raise BrokenError(f"{path.name}: a {kind} is in the place of a folder")


def _write(path: Path, member: _Member) -> None:
    source = member.read()
    if source is None:
        raise BrokenError(f"{member.name}: it has no content")
    with source, path.open("xb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
        # Readable for its owner, because files are copied.
        os.fchmod(file.fileno(), member.mode | 0o400)
