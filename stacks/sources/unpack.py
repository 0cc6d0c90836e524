"""Unpack debs and tar archives, never outside of the target folder."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import zstandard

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import IntegrityError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MAGIC = b"!<arch>\n"
_HEADER = 60


class _UnsafeError(Exception):
    """A fault inside an archive; _reported() adds the archive's path."""


def unpack_deb(deb: Path, target: Path) -> None:
    """Write the files of a deb (deb(5)) into the folder `target`, which is made if missing.

    Symbolic links are written unchanged and never followed; a hard link may only name a file in
    `target`; owners and the setuid, setgid and sticky bits are dropped. Raises IntegrityError for
    a deb that is broken, has a device, or names a path outside `target`; DiskError.
    """
    with _folder(target), _reported(deb), deb.open("rb") as file, _member(file, "data.tar") as tar:
        _extract(tar, target)


def unpack_tar(archive: Path, target: Path) -> None:
    """Write the files of a tar archive, compressed or not, as unpack_deb does those of a deb."""
    with _folder(target), _reported(archive), tarfile.open(archive, mode="r|*") as tar:
        _extract(tar, target)


def read_control(deb: Path) -> bytes:
    """Return a deb's `control` file (deb-control(5)): its name, version and dependencies.

    Raises IntegrityError for a deb that is broken or has no such file.
    """
    with _reported(deb), deb.open("rb") as file, _member(file, "control.tar") as tar:
        for member in tar:
            if _parts(member.name) == ("control",) and (content := tar.extractfile(member)):
                return content.read()
        raise _UnsafeError("it has no control file")


@contextmanager
def _reported(archive: Path) -> Iterator[None]:
    """Turn faults of an archive into an IntegrityError that names it."""
    try:
        yield
    except (
        _UnsafeError,
        tarfile.TarError,
        lzma.LZMAError,
        gzip.BadGzipFile,
        zlib.error,
        zstandard.ZstdError,
        EOFError,
    ) as error:
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


@contextmanager
def _member(file: IO[bytes], name: str) -> Iterator[tarfile.TarFile]:
    """Give the tar archive `name`, compressed or not, of an open deb as a stream."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise _UnsafeError("it is not an ar archive")
    while header := file.read(_HEADER):
        member, size = _ar_header(header)
        if member.startswith(name):
            section = io.BufferedReader(_Section(file, size))
            with _plain(member, section) as plain, tarfile.open(fileobj=plain, mode="r|") as tar:
                yield tar
            return
        file.seek(size + size % 2, os.SEEK_CUR)
    raise _UnsafeError(f"it has no {name}")


def _ar_header(header: bytes) -> tuple[str, int]:
    """Return the name and the size in bytes that an ar header (ar(5)) has."""
    size = header[48:58].strip()
    if len(header) != _HEADER or header[58:] != b"`\n" or not size.isdigit():
        raise _UnsafeError("its ar header is broken")
    return header[:16].decode("ascii", errors="replace").strip().rstrip("/"), int(size)


class _Section(io.RawIOBase):
    """The next `size` bytes of a file."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)[: self._left]
        block = self._file.read(len(view))
        if len(block) < len(view):
            raise EOFError("it is truncated")
        view[:] = block
        self._left -= len(block)
        return len(block)


def _plain(name: str, section: IO[bytes]) -> IO[bytes]:
    """Return the decompressed bytes of NAME.tar.SUFFIX as a stream."""
    match name.partition(".tar")[2]:
        case "":
            return section
        case ".xz":
            return lzma.open(section)
        case ".gz":
            return cast(IO[bytes], gzip.open(section))
        case ".zst":
            return zstandard.ZstdDecompressor().stream_reader(section)
    raise _UnsafeError(f"{name}: the compression is unknown")


def _extract(tar: tarfile.TarFile, target: Path) -> None:
    modes: dict[Path, int] = {}
    for member in tar:
        parts = _parts(member.name)
        if not parts:
            continue
        path = _inside(target, parts)
        mode = member.mode & 0o777
        if member.isdir():
            _make_folder(path)
            # Set at the end: a folder without write permission must be filled first.
            modes[path] = mode
            continue
        if _kind(path) == "folder":
            raise _UnsafeError(f"{member.name}: a folder has the same path")
        path.unlink(missing_ok=True)
        if member.isreg():
            source = tar.extractfile(member)
            if source is None:
                raise _UnsafeError(f"{member.name}: it has no content")
            _write(path, source, mode)
        elif member.issym():
            path.symlink_to(member.linkname)
        elif member.islnk():
            linked = _inside(target, _parts(member.linkname))
            if _kind(linked) != "file":
                raise _UnsafeError(
                    f"{member.name}: a hard link to {member.linkname}, which is no file"
                )
            os.link(linked, path, follow_symlinks=False)
        else:
            raise _UnsafeError(f"{member.name}: neither file, folder nor link")
    for folder, mode in modes.items():
        folder.chmod(mode)


def _parts(name: str) -> tuple[str, ...]:
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise _UnsafeError(f"{name}: the path is outside of the folder")
    return parts


def _inside(target: Path, parts: tuple[str, ...]) -> Path:
    """Return target/parts and make its parents; none of them may be a symbolic link."""
    if not parts:
        raise _UnsafeError("a link to the folder itself")
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
        raise _UnsafeError(f"{path.name}: a {kind} is in the place of a folder")


def _write(path: Path, source: IO[bytes], mode: int) -> None:
    with path.open("xb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
        os.fchmod(file.fileno(), mode)
