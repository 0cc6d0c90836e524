"""An image's layers as compressed tar archives."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import deflate

from stacks.core.disk import explain_disk_errors
from stacks.image import normalised

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

    def copy(out: IO[bytes]) -> None:
        assert base
        with base.open("rb") as file:
            shutil.copyfileobj(file, out, 1 << 20)

    def writer(content: Path) -> Callable[[IO[bytes]], None]:
        return lambda out: normalised.write(content, out)

    jobs: dict[str, Callable[[IO[bytes]], None]] = {BASE: copy} if base else {}
    jobs |= {name: writer(content) for name, content in layers.items()}
    with explain_disk_errors(folder), ThreadPoolExecutor(len(jobs)) as pool:
        return tuple(pool.map(lambda job: _compress(folder / job[0], job[1]), jobs.items()))


def _compress(path: Path, write: Callable[[IO[bytes]], None]) -> CompressedLayer:
    with path.open("wb") as file:
        compressor = _Compressor(file)
        write(cast("IO[bytes]", compressor))
        compressor.close()
    digests = (f"sha256:{d.hexdigest()}" for d in (compressor.outside, compressor.inside))
    return CompressedLayer(path.name, next(digests), compressor.size, next(digests))


class _Compressor(io.RawIOBase):
    """Compresses what is written to it; hashes both sides and counts the compressed bytes."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.waiting, self.size = out, bytearray(), 0
        self.inside, self.outside = hashlib.sha256(), hashlib.sha256()

    def write(self, block: Any) -> int:
        self.inside.update(block)
        self.waiting += block
        while len(self.waiting) >= CHUNK:
            self._flush_chunk()
        return len(block)

    def _flush_chunk(self) -> None:
        data = deflate.gzip_compress(bytes(self.waiting[:CHUNK]), LEVEL)
        del self.waiting[:CHUNK]
        self.outside.update(data)
        self.size += len(data)
        self.out.write(data)

    def close(self) -> None:
        if not self.closed and self.waiting:
            self._flush_chunk()
        super().close()
