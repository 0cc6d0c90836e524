"""Folders that become layers: normalised on disk, as tar archives, and compressed."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import IO, cast

import deflate

from stacks.core.disk import explain_disk_errors
from stacks.core.reproducible import EPOCH


def normalise(root: Path, folders: Mapping[str, int] | None = None) -> None:
    """Set the time of everything in a folder to EPOCH, and modes that do not depend on the umask.

    Files get 755 or 644, or where their owner cannot write, 555 or 444: these are links into the
    cache. Folders get 755 or, by their path below `root`, the mode in `folders`.
    """
    modes = folders or {}
    for path in _walk(root):
        status = path.lstat()
        if not stat.S_ISLNK(status.st_mode):
            mode = modes.get(str(path.relative_to(root)), _mode(status.st_mode))
            if stat.S_IMODE(status.st_mode) != mode:
                path.chmod(mode)
        # Most files are links into the cache, which have this time already.
        if status.st_mtime_ns != EPOCH * 10**9:
            os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)


def _mode(mode: int) -> int:
    if stat.S_ISDIR(mode):
        return 0o755
    return (0o555 if mode & 0o100 else 0o444) | mode & 0o200


def write(root: Path, out: IO[bytes]) -> None:
    """Write a normalised folder's content as a tar archive, sorted, owned by root."""
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(_walk(root), key=lambda path: path.relative_to(root).parts):
            if path == root:
                continue
            entry = tarfile.TarInfo(str(path.relative_to(root)))
            status = path.lstat()
            entry.mode, entry.mtime = stat.S_IMODE(status.st_mode), EPOCH
            if stat.S_ISREG(status.st_mode):
                entry.size = status.st_size
                with path.open("rb") as file:
                    tar.addfile(entry, file)
                continue
            if stat.S_ISLNK(status.st_mode):
                entry.type, entry.mode = tarfile.SYMTYPE, 0o777
                entry.linkname = str(path.readlink())
            else:
                entry.type = tarfile.DIRTYPE
            tar.addfile(entry)


def digest_of(root: Path) -> str:
    """Return the digest (`sha256:...`) of the tar archive of a normalised folder."""
    digest = hashlib.sha256()
    write(root, cast("IO[bytes]", SimpleNamespace(write=digest.update)))
    return f"sha256:{digest.hexdigest()}"


def modes_of(root: Path) -> dict[str, str]:
    """Return {path: mode in octal} of all that is below a folder except links."""
    return {
        str(path.relative_to(root)): f"{stat.S_IMODE(path.lstat().st_mode):o}"
        for path in _walk(root)
        if path != root and not path.is_symlink()
    }


def _walk(root: Path) -> Iterator[Path]:
    """Yield a folder and what is in it, each folder after its content."""
    for name, folders, files in os.walk(root, topdown=False):
        folder = Path(name)
        yield from (folder / file for file in files)
        yield from (folder / child for child in folders if (folder / child).is_symlink())
        yield folder


# zlib's bytes differ between its versions and forks, those of a pinned libdeflate do not.
LEVEL = 6
# Bytes that are compressed at once; gzip allows one stream after another.
CHUNK = 32 << 20
BASE = "base"


@dataclass(frozen=True)
class CompressedLayer:
    """A compressed layer: name, digest and size of its file, and the digest of the tar archive."""

    name: str
    digest: str
    size: int
    diff_id: str


def compress(
    base: Path | None, layers: Mapping[str, Path], folder: Path
) -> tuple[CompressedLayer, ...]:
    """Compress the base, a tar archive, and layers by name into `folder`; return them in order."""
    contents = {BASE: base, **layers} if base else layers
    with explain_disk_errors(folder), ThreadPoolExecutor(len(contents)) as pool:
        return tuple(pool.map(lambda name: _compress(contents[name], folder / name), contents))


def _compress(content: Path, target: Path) -> CompressedLayer:
    """Compress a tar archive, or that of a normalised folder."""
    with target.open("wb") as file:
        compressor = _Compressor(file)
        out = cast("IO[bytes]", compressor)
        if content.is_dir():
            write(content, out)
        else:
            with content.open("rb") as archive:
                shutil.copyfileobj(archive, out, 1 << 20)
        compressor.finish()
    outside, inside = (f"sha256:{d.hexdigest()}" for d in (compressor.outside, compressor.inside))
    return CompressedLayer(target.name, outside, compressor.size, inside)


class _Compressor:
    """Compresses what is written to it; hashes both sides and counts the compressed bytes."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.waiting, self.size = out, bytearray(), 0
        self.inside, self.outside = hashlib.sha256(), hashlib.sha256()

    def write(self, block: bytes) -> None:
        self.inside.update(block)
        self.waiting += block
        while len(self.waiting) >= CHUNK:
            self._flush_chunk()

    def finish(self) -> None:
        if self.waiting:
            self._flush_chunk()

    def _flush_chunk(self) -> None:
        data = deflate.gzip_compress(bytes(self.waiting[:CHUNK]), LEVEL)
        del self.waiting[:CHUNK]
        self.outside.update(data)
        self.size += len(data)
        self.out.write(data)
