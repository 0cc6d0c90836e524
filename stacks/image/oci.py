"""An image without an engine: an OCI layout in a tar archive, which engines load as well.

The archive has a `manifest.json` too, so `docker load` and `podman load` take it like one that
`docker save` has written; skopeo, crane and the like take it as an OCI archive.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import deflate

from stacks import pipeline
from stacks.disk import BUILD, aside, explained, locked
from stacks.errors import UsageError
from stacks.image import base as bases
from stacks.image import contents, tree
from stacks.image.config import CREATED, EPOCH, ImageConfig, config_of
from stacks.variant import Variant

BLOBS = BUILD / "images" / "blobs"
TYPES = "application/vnd.oci.image"
SBOM_TYPE = "application/vnd.cyclonedx+json"
NOTHING = b"{}"
# zlib's bytes differ between its versions and forks, those of a pinned libdeflate do not.
LEVEL = 6
# What is compressed at once; gzip lets its streams follow one another.
CHUNK = 32 << 20


@dataclass(frozen=True)
class Blob:
    """A file of a layout: its bytes lie in `path`, or in `data`."""

    kind: str
    digest: str
    size: int
    path: Path | None = None
    data: bytes = b""

    @property
    def descriptor(self) -> dict[str, Any]:
        """What an OCI document says of it."""
        return {"mediaType": self.kind, "digest": self.digest, "size": self.size}

    @property
    def name(self) -> str:
        """Its place in the archive."""
        return f"blobs/{self.digest.replace(':', '/')}"


@dataclass(frozen=True)
class Packed:
    """A layer: the blob, and the digest of what it holds before compression."""

    blob: Blob
    diff_id: str
    made_of: str


def write(variant: Variant, target: Path, base: Path | None = None) -> str:
    """Write a variant's image to the file `target` and return its digest (`sha256:...`).

    `base` is a tar archive of a root that takes the place of the locked one. The same commit gives
    the same bytes. Raises UsageError where `target` cannot be a file, DiskError; nothing is left of
    an archive that could not be finished.
    """
    _check(target, base)
    layers = contents.lay_out(variant)
    config = config_of(variant, base_name=base.name if base else None)
    with pipeline.step("layers", "") as told:
        packed = _pack(variant, base or bases.tar(), layers)
        told.append(f"{sum(layer.blob.size for layer in packed) / 1e6:.0f} MB, compressed")
    with pipeline.step("archive", pipeline.shown(target)), aside(target) as made:
        return _write(made, packed, config, _sbom(layers))


def _check(target: Path, base: Path | None) -> None:
    if target.is_dir():
        raise UsageError(f"{target} is a folder", mend=f"name a file: {target / 'image.tar'}")
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such folder", mend=f"mkdir -p {target.parent}")
    if base and not (base.is_file() and tarfile.is_tarfile(base)):
        raise UsageError(
            f"{base}: no tar archive of a root",
            expected="what `docker export` or mmdebstrap writes",
        )


def _pack(variant: Variant, base: Path, layers: Sequence[contents.Layer]) -> list[Packed]:
    """Return the base and the layers as compressed blobs, side by side, lowest first."""

    def copy(out: IO[bytes]) -> None:
        with base.open("rb") as file:
            while block := file.read(1 << 20):
                out.write(block)

    def writer(folder: Path) -> Callable[[IO[bytes]], None]:
        return lambda out: tree.write(folder, out)

    jobs = [("base", copy), *((layer.name, writer(layer.folder)) for layer in layers)]
    with locked(BLOBS / variant.framework.name / variant.name, f"the image {variant.id}"):
        folder = BLOBS / variant.framework.name / variant.name
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(len(jobs)) as pool:
                return list(pool.map(lambda job: _packed(folder / job[0], *job), jobs))


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


def _packed(path: Path, name: str, write: Callable[[IO[bytes]], None]) -> Packed:
    with path.open("wb") as file:
        packer = _Packer(file)
        write(cast("IO[bytes]", packer))
        packer.close()
    digest = f"sha256:{packer.outside.hexdigest()}"
    blob = Blob(f"{TYPES}.layer.v1.tar+gzip", digest, packer.size, path)
    return Packed(blob, f"sha256:{packer.inside.hexdigest()}", name)


def _sbom(layers: Sequence[contents.Layer]) -> Blob:
    return _blob(SBOM_TYPE, (layers[-1].folder / contents.SBOM[1:]).read_bytes())


def _blob(kind: str, data: bytes) -> Blob:
    return Blob(kind, f"sha256:{hashlib.sha256(data).hexdigest()}", len(data), data=data)


def _json(kind: str, content: Any) -> Blob:
    return _blob(kind, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def image_config(packed: Sequence[Packed], config: ImageConfig) -> dict[str, Any]:
    """Return the OCI image configuration: how the image starts, and what its layers hold."""
    created = CREATED.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {
            "User": config.user,
            "Env": [f"{name}={value}" for name, value in config.environment.items()],
            "Entrypoint": list(config.entrypoint),
            **({"Cmd": list(config.command)} if config.command else {}),
            "WorkingDir": config.workdir,
            "Labels": config.labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in packed]},
        "history": [
            {"created": created, "created_by": "theano-stacks", "comment": layer.made_of}
            for layer in packed
        ],
    }


def _write(target: Path, packed: Sequence[Packed], config: ImageConfig, sbom: Blob) -> str:
    """Write the layout with the image, and its SBOM as an artifact that refers to it."""
    settings = _json(f"{TYPES}.config.v1+json", image_config(packed, config))
    manifest = _manifest(settings, [layer.blob.descriptor for layer in packed])
    nothing = _blob("application/vnd.oci.empty.v1+json", NOTHING)
    attached = _manifest(
        nothing, [sbom.descriptor], artifactType=SBOM_TYPE, subject=manifest.descriptor
    )
    named = {
        **manifest.descriptor,
        "annotations": {
            "io.containerd.image.name": f"docker.io/library/{config.names[0]}",
            "org.opencontainers.image.ref.name": config.tags[0],
        },
    }
    documents = {
        "index.json": {
            "schemaVersion": 2,
            "mediaType": f"{TYPES}.index.v1+json",
            "manifests": [named, {**attached.descriptor, "artifactType": SBOM_TYPE}],
        },
        # Read by `docker load` of engines that keep no OCI layouts.
        "manifest.json": [
            {
                "Config": settings.name,
                "RepoTags": list(config.names),
                "Layers": [layer.blob.name for layer in packed],
            }
        ],
        "oci-layout": {"imageLayoutVersion": "1.0.0"},
    }
    blobs = [*(layer.blob for layer in packed), settings, manifest, nothing, attached, sbom]
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in documents.items():
            data = json.dumps(content, sort_keys=True).encode()
            tar.addfile(_entry(name, len(data)), io.BytesIO(data))
        for blob in sorted({blob.name: blob for blob in blobs}.values(), key=lambda b: b.name):
            with blob.path.open("rb") if blob.path else io.BytesIO(blob.data) as file:
                tar.addfile(_entry(blob.name, blob.size), file)
    print(f"  {'digest':<9}{manifest.digest}", file=sys.stderr)
    return manifest.digest


def _manifest(config: Blob, layers: list[dict[str, Any]], **more: Any) -> Blob:
    kind = f"{TYPES}.manifest.v1+json"
    content = {"schemaVersion": 2, "mediaType": kind, "config": config.descriptor}
    return _json(kind, {**content, "layers": layers, **more})


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, EPOCH, 0o644
    return entry
