"""An image made without an engine: an OCI layout in a tar archive.

`docker load` and `podman load` read its `manifest.json`, as in an archive of `docker save`; skopeo,
crane and Apptainer read it as an OCI archive. Formats: OCI image specification 1.1.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.core import console
from stacks.core.disk import hold_lock, replace_atomically, sha256_of
from stacks.core.errors import UsageError
from stacks.core.paths import check_replaceable
from stacks.core.reproducible import EPOCH, TIMESTAMP
from stacks.core.workspace import Workspace
from stacks.image import base as bases
from stacks.image import layout
from stacks.image.compressed import CompressedLayer, compress_once
from stacks.image.config import ImageConfig, config_of
from stacks.image.saved import SavedImage
from stacks.variants.variant import Variant

TYPES = "application/vnd.oci.image"
SBOM_TYPE = "application/vnd.cyclonedx+json"
EMPTY = b"{}"


@dataclass(frozen=True)
class Blob:
    """A file of an OCI layout: its bytes are in the file `path`, or in `data`."""

    kind: str
    digest: str
    size: int
    path: Path | None = None
    data: bytes = b""

    @property
    def descriptor(self) -> dict[str, Any]:
        """The OCI descriptor."""
        return {"mediaType": self.kind, "digest": self.digest, "size": self.size}

    @property
    def name(self) -> str:
        """The path in the archive."""
        return f"blobs/{self.digest.replace(':', '/')}"


@dataclass(frozen=True)
class Digests:
    """The digests of an image: of its manifest, which names it in registries, and of its config.

    An engine names an image by one of them: those with containerd's store by the manifest's.
    """

    manifest: str
    config: str


def write(workspace: Workspace, variant: Variant, target: Path, base: Path | None = None) -> str:
    """Write a variant's image to the file `target` and return its digest (`sha256:...`).

    base: a tar archive of a root file system that replaces the locked base. The same commit gives
    the same bytes. Raises UsageError if `target` cannot be a file, DiskError; a failure leaves no
    partial archive.
    """
    _check(target, base)
    layers = layout.lay_out(workspace, variant)
    digests = pack(workspace, variant, layers, target, base=base)
    print(f"  {'digest':<9}{digests.manifest}", file=sys.stderr)
    return digests.manifest


def pack(
    workspace: Workspace,
    variant: Variant,
    layers: Sequence[layout.Layer],
    target: Path,
    *,
    base: Path | None = None,
    base_name: str = "",
    below: SavedImage | None = None,
    names: Sequence[str] = (),
) -> Digests:
    """Write the image of these layers, which are ready, to the file `target`.

    base: as in `write`. below, base_name: an image in place of the base, and its name. names: as in
    `archive`. Raises DiskError, IntegrityError if the layers changed after they were made.
    """
    lowest = None if below else base or bases.tar(workspace)
    config = config_of(workspace, variant, base_name or (base.name if base else None))
    bill = layout.sbom_in(layers, locked_base=not (base or below))
    folder = layout.path_beside(workspace, variant, "packed")
    with hold_lock(folder, f"the layers of {variant.id}"):
        with console.step("layers", "") as description:
            compressed = compress_once(lowest, layers, folder)
            description.append(f"{sum(la.size for la in compressed) / 1e6:.0f} MB, compressed")
        with (
            console.step("archive", console.display_path(target)),
            replace_atomically(target) as made,
        ):
            return archive(made, folder, compressed, config, bill, names, below)


def file_for(workspace: Workspace, variant: Variant, chosen: Path | None) -> Path:
    """Return the file for an image: the chosen one, else one of its name in the working folder."""
    return chosen or Path.cwd() / file_name(config_of(workspace, variant))


def file_name(config: ImageConfig) -> str:
    """Return the name of an image's file."""
    return f"{config.repository}-{config.tags[0]}.oci.tar"


def _check(target: Path, base: Path | None) -> None:
    if target.is_dir():
        raise UsageError(f"{target} is a folder", fix=f"name a file: {target / 'image.tar'}")
    check_replaceable(target)
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is no folder", fix=f"mkdir -p {target.parent}")
    if base and not _is_tar(base):
        raise UsageError(
            f"{base} is no tar archive of a root file system",
            expected="the output of `docker export` or mmdebstrap, not compressed",
            fix="decompress it first, if it is a .tar.gz or the like",
        )


def _is_tar(path: Path) -> bool:
    """Return whether a path is a tar archive that is not compressed."""
    # To open a pipe would wait for what is written to it.
    if not path.is_file():
        return False
    try:
        with tarfile.open(path, "r:"):
            return True
    except (OSError, tarfile.TarError):
        return False


def _blob(kind: str, data: bytes) -> Blob:
    return Blob(kind, f"sha256:{hashlib.sha256(data).hexdigest()}", len(data), data=data)


def _json(kind: str, content: Any) -> Blob:
    return _blob(kind, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def image_config(
    layers: Sequence[CompressedLayer], config: ImageConfig, below: SavedImage | None = None
) -> dict[str, Any]:
    """Return the OCI image configuration: how the image starts, and the digests of its layers.

    below: the image under these layers, whose settings and variables stay unless `config` sets
    them, as with FROM in a Dockerfile.
    """
    base = below.settings if below else {}
    inherited = {k: v for k, v in (base.get("config") or {}).items() if k not in ("Cmd", "OnBuild")}
    variables = dict(pair.split("=", 1) for pair in inherited.get("Env") or ())
    variables |= config.environment
    own = [
        {"created": TIMESTAMP, "created_by": "theano-stacks", "comment": layer.name}
        for layer in layers
    ]
    diff_ids = [layer.diff_id for layer in layers]
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": TIMESTAMP,
        "config": {
            **inherited,
            "User": config.user,
            "Env": [f"{name}={value}" for name, value in variables.items()],
            "Entrypoint": list(config.entrypoint),
            **({"Cmd": list(config.command)} if config.command else {}),
            "WorkingDir": config.workdir,
            "Labels": (inherited.get("Labels") or {}) | config.labels,
        },
        "rootfs": {
            "type": "layers",
            "diff_ids": [*(base["rootfs"]["diff_ids"] if below else ()), *diff_ids],
        },
        "history": [*(base.get("history") or ()), *own],
    }


def archive(
    target: Path,
    folder: Path,
    compressed: Sequence[CompressedLayer],
    config: ImageConfig,
    sbom_text: bytes,
    names: Sequence[str] = (),
    below: SavedImage | None = None,
) -> Digests:
    """Write an OCI layout with the image and, as an artifact that refers to it, its SBOM.

    folder: where the files of the layers are. names: instead of the image's names, with their tags.
    below: the image under these layers. Returns the image's digests.
    """
    names = names or config.names
    sbom = _blob(SBOM_TYPE, sbom_text)
    layers = [_layer(path) for path in below.layers] if below else []
    layers += [
        Blob(f"{TYPES}.layer.v1.tar+gzip", layer.digest, layer.size, folder / layer.name)
        for layer in compressed
    ]
    settings = _json(f"{TYPES}.config.v1+json", image_config(compressed, config, below))
    manifest = _manifest(settings, [layer.descriptor for layer in layers])
    empty = _blob("application/vnd.oci.empty.v1+json", EMPTY)
    attached = _manifest(
        empty, [sbom.descriptor], artifactType=SBOM_TYPE, subject=manifest.descriptor
    )
    named = {
        **manifest.descriptor,
        "annotations": {
            "io.containerd.image.name": f"docker.io/library/{names[0]}",
            "org.opencontainers.image.ref.name": names[0].rpartition(":")[2],
        },
    }
    documents = {
        "index.json": {
            "schemaVersion": 2,
            "mediaType": f"{TYPES}.index.v1+json",
            "manifests": [named, {**attached.descriptor, "artifactType": SBOM_TYPE}],
        },
        # For `docker load` of engines without support for OCI layouts.
        "manifest.json": [
            {
                "Config": settings.name,
                "RepoTags": list(names),
                "Layers": [layer.name for layer in layers],
            }
        ],
        "oci-layout": {"imageLayoutVersion": "1.0.0"},
    }
    blobs = [*layers, settings, manifest, empty, attached, sbom]
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in documents.items():
            data = json.dumps(content, sort_keys=True).encode()
            tar.addfile(_entry(name, len(data)), io.BytesIO(data))
        # Apptainer makes no folders but those that are entries.
        for name in ("blobs", "blobs/sha256"):
            tar.addfile(_folder(name))
        for blob in sorted({blob.name: blob for blob in blobs}.values(), key=lambda b: b.name):
            with blob.path.open("rb") if blob.path else io.BytesIO(blob.data) as file:
                tar.addfile(_entry(blob.name, blob.size), file)
    return Digests(manifest.digest, settings.digest)


def _layer(path: Path) -> Blob:
    """Return a layer of another image, as the engine saved it."""
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    kind = f"{TYPES}.layer.v1.tar{'+gzip' if compressed else ''}"
    return Blob(kind, f"sha256:{sha256_of(path)}", path.stat().st_size, path)


def _manifest(config: Blob, layers: list[dict[str, Any]], **more: Any) -> Blob:
    kind = f"{TYPES}.manifest.v1+json"
    content = {"schemaVersion": 2, "mediaType": kind, "config": config.descriptor}
    return _json(kind, {**content, "layers": layers, **more})


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, EPOCH, 0o644
    return entry


def _folder(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mtime, entry.mode = tarfile.DIRTYPE, EPOCH, 0o755
    return entry
