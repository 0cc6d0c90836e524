"""An image's layers as compressed tar archives, kept for the next time."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

import deflate

from stacks.core.disk import explain_disk_errors, replace_atomically, sha256_of
from stacks.image import layout, manifest, normalised

# zlib's bytes differ between its versions and forks, those of a pinned libdeflate do not.
LEVEL = 6
# What is compressed at once; gzip lets its streams follow one another.
CHUNK = 32 << 20


@dataclass(frozen=True)
class Packed:
    """A compressed layer: digest and size of its file, and the digest of what that holds."""

    name: str
    digest: str
    size: int
    diff_id: str


def pack_once(base: Path, layers: Sequence[layout.Layer], folder: Path) -> tuple[Packed, ...]:
    """Return what pack() returns; where the folder has that of the same content, it is taken.

    Raises IntegrityError where the layers are not as they were laid out.
    """
    inputs = [layout.key_in(layers), sha256_of(base), sha256_of(Path(__file__))]
    found = _read(folder, inputs)
    if found is None:
        folders = [layer.folder for layer in layers]
        manifest.check(folders[0].parent, manifest.read(folders))
        with replace_atomically(folder) as made:
            made.mkdir()
            found = pack(base, layers, made)
            record = {"inputs": inputs, "layers": [asdict(layer) for layer in found]}
            (made / "packed.json").write_text(json.dumps(record) + "\n")
    return found


def _read(folder: Path, inputs: Sequence[str]) -> tuple[Packed, ...] | None:
    try:
        record = json.loads((folder / "packed.json").read_bytes())
        found = tuple(Packed(**layer) for layer in record["layers"])
        whole = all(f"sha256:{sha256_of(folder / p.name)}" == p.digest for p in found)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if whole and record["inputs"] == inputs else None


def pack(base: Path, layers: Sequence[layout.Layer], folder: Path) -> tuple[Packed, ...]:
    """Write the base and the layers into a folder, side by side, and return them, lowest first.

    `base` is a tar archive of a root.
    """

    def copy(out: IO[bytes]) -> None:
        with base.open("rb") as file:
            while block := file.read(1 << 20):
                out.write(block)

    def writer(content: Path) -> Callable[[IO[bytes]], None]:
        return lambda out: normalised.write(content, out)

    jobs = [("base", copy), *((layer.name, writer(layer.folder)) for layer in layers)]
    with explain_disk_errors(folder), ThreadPoolExecutor(len(jobs)) as pool:
        return tuple(pool.map(lambda job: _pack(folder / job[0], job[1]), jobs))


def _pack(path: Path, write: Callable[[IO[bytes]], None]) -> Packed:
    with path.open("wb") as file:
        packer = _Packer(file)
        write(cast("IO[bytes]", packer))
        packer.close()
    digest = f"sha256:{packer.outside.hexdigest()}"
    return Packed(path.name, digest, packer.size, f"sha256:{packer.inside.hexdigest()}")


class _Packer(io.RawIOBase):
    """Compresses what is written to it, and knows the digests and sizes of both sides."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.waiting, self.size = out, bytearray(), 0
        self.inside, self.outside = hashlib.sha256(), hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        self.inside.update(block)
        self.waiting += block
        while len(self.waiting) >= CHUNK:
            self._pack(CHUNK)
        return len(block)

    def _pack(self, count: int) -> None:
        packed = deflate.gzip_compress(bytes(self.waiting[:count]), LEVEL)
        del self.waiting[:count]
        self.outside.update(packed)
        self.size += len(packed)
        self.out.write(packed)

    def close(self) -> None:
        if not self.closed and self.waiting:
            self._pack(len(self.waiting))
        super().close()
