"""Unpack debs and tar archives with the standard library, and never outside their folder."""

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


class _UnsoundError(Exception):
    """What is wrong inside a deb; unpack() adds which deb it is."""


def unpack_deb(deb: Path, target: Path) -> None:
    """Write the files of a deb into the folder `target`, which is made where it is missing.

    Symbolic links are kept as they are and never followed; a hard link may only name a file in
    `target`; owners are not kept, setuid, setgid and sticky bits neither. Raises IntegrityError
    for a deb that is broken, has a device, or names a place outside `target`; DiskError.
    """
    with _explained(deb, target), deb.open("rb") as file, _tar_in(file, "data.tar") as data:
        _extract(data, target)


def read_control(deb: Path) -> bytes:
    """Return the control file of a deb that unpack_deb accepts: the package's description."""
    with deb.open("rb") as file, _tar_in(file, "control.tar") as tar:
        control = next(tar.extractfile(m) for m in tar if m.name in ("control", "./control"))
        assert control
        return control.read()


def unpack_tar(archive: Path, target: Path) -> None:
    """Write the files of a tar archive, compressed or not, as unpack_deb does those of a deb."""
    with _explained(archive, target), tarfile.open(archive, mode="r|*") as data:
        _extract(data, target)


@contextmanager
def _explained(archive: Path, target: Path) -> Iterator[None]:
    """Make `target`, and turn what is wrong with an archive into an IntegrityError."""
    with explain_disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        try:
            yield
        except (
            _UnsoundError,
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
                fix="delete this file to have it fetched again; if it comes back the same, pin "
                "another version",
            ) from error


@contextmanager
def _tar_in(file: IO[bytes], kind: str) -> Iterator[tarfile.TarFile]:
    """Open a tar archive of an open deb, `data.tar` or `control.tar`, as a stream."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise _UnsoundError("it is no ar archive")
    while header := file.read(_HEADER):
        name, size = _ar_header(header)
        if name.startswith(kind):
            section = io.BufferedReader(_Section(file, size))
            with _plain(name, section) as plain, tarfile.open(fileobj=plain, mode="r|") as tar:
                yield tar
            return
        file.seek(size + size % 2, os.SEEK_CUR)
    raise _UnsoundError(f"it has no {kind}")


def _ar_header(header: bytes) -> tuple[str, int]:
    size = header[48:58].strip()
    if len(header) != _HEADER or header[58:] != b"`\n" or not size.isdigit():
        raise _UnsoundError("its ar header is broken")
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
    """Return the decompressed bytes of a tar archive as a stream."""
    if name.endswith(".tar"):
        return section
    if name.endswith(".xz"):
        return lzma.open(section)
    if name.endswith(".gz"):
        return cast(IO[bytes], gzip.open(section))
    if name.endswith(".zst"):
        return zstandard.ZstdDecompressor().stream_reader(section)
    raise _UnsoundError(f"{name} is compressed in a way that is not known here")


def _extract(tar: tarfile.TarFile, target: Path) -> None:
    modes: dict[Path, int] = {}
    for member in tar:
        parts = _parts(member.name)
        if not parts:
            continue
        place = _inside(target, parts)
        mode = member.mode & 0o777
        if member.isdir():
            _make_folder(place)
            # Set at the end: a folder that may not be written must still be filled.
            modes[place] = mode
            continue
        if _kind(place) == "folder":
            raise _UnsoundError(f"{member.name}: it stands where a folder is")
        place.unlink(missing_ok=True)
        if member.isreg():
            source = tar.extractfile(member)
            if source is None:
                raise _UnsoundError(f"{member.name}: it has no bytes")
            _write(place, source, mode)
        elif member.issym():
            place.symlink_to(member.linkname)
        elif member.islnk():
            linked = _inside(target, _parts(member.linkname))
            if _kind(linked) != "file":
                raise _UnsoundError(f"{member.name}: a hard link to {member.linkname}: no file")
            os.link(linked, place, follow_symlinks=False)
        else:
            raise _UnsoundError(f"{member.name}: a device or the like")
    for folder, mode in modes.items():
        folder.chmod(mode)


def _parts(name: str) -> tuple[str, ...]:
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise _UnsoundError(f"{name}: it would lie outside the folder")
    return parts


def _inside(target: Path, parts: tuple[str, ...]) -> Path:
    """Return target/parts, having made its parents; none of them may be a symbolic link."""
    if not parts:
        raise _UnsoundError("a link to the folder itself")
    folder = target
    for part in parts[:-1]:
        folder = folder / part
        _make_folder(folder)
    return folder / parts[-1]


def _kind(place: Path) -> str:
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return "nothing"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "link"


def _make_folder(place: Path) -> None:
    kind = _kind(place)
    if kind == "nothing":
        place.mkdir(mode=0o755)
    elif kind != "folder":
        raise _UnsoundError(f"{place.name}: a {kind} stands where a folder is needed")


def _write(place: Path, source: IO[bytes], mode: int) -> None:
    with place.open("xb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
        os.fchmod(file.fileno(), mode)
