"""An image's layers as compressed tar archives, stored for the next run."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, cast

import deflate

from stacks.core.disk import explain_disk_errors, replace_atomically, sha256_of
from stacks.image import layout, manifest, normalised

# zlib's bytes differ between its versions and forks, those of a pinned libdeflate do not.
LEVEL = 6
# Bytes that are compressed at once; gzip allows one stream after another.
CHUNK = 32 << 20
RECORD = "packed.json"


@dataclass(frozen=True)
class CompressedLayer:
    """A compressed layer: name, digest and size of its file, and the digest of the tar archive."""

    name: str
    digest: str
    size: int
    diff_id: str


def compress_once(
    base: Path | None, layers: Sequence[layout.Layer], folder: Path
) -> tuple[CompressedLayer, ...]:
    """Return what compress() returns, reusing the files in `folder` if they are of this content.

    Raises IntegrityError if the layers changed after their layout was made.
    """
    code = [sha256_of(Path(__file__)), version("deflate")]
    inputs = [layout.key_in(layers), sha256_of(base) if base else None, *code]
    record = layout.read_record(folder / RECORD)
    if record.get("inputs") == inputs:
        ready = tuple(CompressedLayer(**layer) for layer in record["layers"])
        if all(_is_intact(folder / layer.name, layer.digest) for layer in ready):
            return ready
    folders = [layer.folder for layer in layers]
    manifest.check(folders[0].parent, manifest.file_digests(folders))
    with replace_atomically(folder) as made:
        made.mkdir()
        compressed = compress(base, layers, made)
        record = {"inputs": inputs, "layers": [asdict(layer) for layer in compressed]}
        (made / RECORD).write_text(json.dumps(record) + "\n")
    return compressed


def _is_intact(path: Path, digest: str) -> bool:
    return path.is_file() and f"sha256:{sha256_of(path)}" == digest


def compress(
    base: Path | None, layers: Sequence[layout.Layer], folder: Path
) -> tuple[CompressedLayer, ...]:
    """Compress the base, a tar archive, and the layers into `folder`; return them, lowest first."""

    def copier(archive: Path) -> Callable[[IO[bytes]], None]:
        def copy(out: IO[bytes]) -> None:
            with archive.open("rb") as file:
                shutil.copyfileobj(file, out, 1 << 20)

        return copy

    def writer(content: Path) -> Callable[[IO[bytes]], None]:
        return lambda out: normalised.write(content, out)

    jobs = [("base", copier(base))] if base else []
    jobs += [(layer.name, writer(layer.folder)) for layer in layers]
    with explain_disk_errors(folder), ThreadPoolExecutor(len(jobs)) as pool:
        return tuple(pool.map(lambda job: _compress(folder / job[0], job[1]), jobs))


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

    def writable(self) -> bool:
        return True

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
