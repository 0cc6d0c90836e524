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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stacks.core import console
from stacks.core.disk import replace_atomically, sha256_of, temporary_folder
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.paths import check_replaceable
from stacks.core.process import quoted
from stacks.core.reproducible import EPOCH, TIMESTAMP
from stacks.core.workspace import Workspace
from stacks.image import base as bases
from stacks.image import layout
from stacks.image.layout import Layers
from stacks.image.metadata import ImageConfig, config_of
from stacks.image.packing import CompressedLayer, compress
from stacks.variants.variant import Variant

TYPES = "application/vnd.oci.image"
SBOM_TYPE = "application/vnd.cyclonedx+json"
EMPTY = b"{}"


@dataclass(frozen=True)
class Lower:
    """What is below an image's layers.

    name: for its label. root: a root file system as a tar archive, which becomes a layer. settings,
    layers: of another image, its OCI configuration and the files of its layers, lowest first, each
    a tar archive or a compressed one.
    """

    name: str
    root: Path | None = None
    is_locked: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    layers: tuple[Path, ...] = ()


def locked(workspace: Workspace) -> Lower:
    """Return the locked base."""
    return Lower(bases.name(workspace), bases.tar(workspace), is_locked=True)


def of_root(path: Path) -> Lower:
    """Return a root file system in a tar archive; UsageError if the file is not one."""
    try:
        # To open a pipe would wait for what is written to it.
        if not path.is_file():
            raise FileNotFoundError
        with tarfile.open(path, "r:"):
            return Lower(path.name, path)
    except (OSError, tarfile.TarError) as error:
        raise UsageError(
            f"{path} is no tar archive of a root file system",
            expected="the output of `docker export` or mmdebstrap, not compressed",
            fix="decompress it first, if it is a .tar.gz or the like",
        ) from error


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
    if target.is_dir():
        raise UsageError(f"{target} is a folder", fix=f"name a file: {target / 'image.tar'}")
    check_replaceable(target)
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is no folder", fix=f"mkdir -p {target.parent}")
    below = of_root(base) if base else locked(workspace)
    layers = layout.lay_out(workspace, variant)
    digests = pack(workspace, variant, layers, target, below)
    print(f"  {'digest':<9}{digests.manifest}", file=sys.stderr)
    return digests.manifest


def pack(
    workspace: Workspace,
    variant: Variant,
    layers: Layers,
    target: Path,
    below: Lower,
    names: Sequence[str] = (),
) -> Digests:
    """Write the image of these layers, which are ready, to the file `target`.

    below: what they lie on; the files of its layers are deleted, so that an image does not need its
    space twice. names: instead of the image's names, with their tags. Raises DiskError,
    IntegrityError if a layer changed after it was made.
    """
    config = config_of(workspace, variant, below.name)
    with replace_atomically(target) as made, temporary_folder(made.parent, "layers-") as folder:
        with console.step("layers", "") as description:
            compressed = compress(below.root, layers.folders, folder)
            description.append(f"{sum(la.size for la in compressed) / 1e6:.0f} MB, compressed")
        for layer in compressed:
            expected = layers.digests.get(layer.name, layer.diff_id)
            if layer.diff_id != expected:
                raise IntegrityError(
                    f"{layers.folder / layer.name} changed after it was made",
                    expected=expected,
                    found=layer.diff_id,
                    fix=f"{quoted(['rm', '-r', layers.folder])}, then run the command again; "
                    "if it fails again, check the disk",
                )
        blobs = [_saved_layer(path) for path in below.layers]
        blobs += [
            Blob(f"{TYPES}.layer.v1.tar+gzip", layer.digest, layer.size, folder / layer.name)
            for layer in compressed
        ]
        settings = _json(f"{TYPES}.config.v1+json", image_config(compressed, config, below))
        bill = _blob(SBOM_TYPE, layers.sbom(locked_base=below.is_locked))
        with console.step("archive", console.display_path(target)):
            return _archive(made, blobs, settings, bill, names or config.names)


def file_for(workspace: Workspace, variant: Variant, chosen: Path | None) -> Path:
    """Return the file for an image: the chosen one, else one of its name in the working folder."""
    return chosen or Path.cwd() / file_name(config_of(workspace, variant))


def file_name(config: ImageConfig) -> str:
    """Return the name of an image's file."""
    return f"{config.repository}-{config.tags[0]}.oci.tar"


def _blob(kind: str, data: bytes) -> Blob:
    return Blob(kind, f"sha256:{hashlib.sha256(data).hexdigest()}", len(data), data=data)


def _json(kind: str, content: Any) -> Blob:
    return _blob(kind, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def image_config(
    layers: Sequence[CompressedLayer], config: ImageConfig, below: Lower
) -> dict[str, Any]:
    """Return the OCI image configuration: how the image starts, and the digests of its layers.

    Settings and variables of an image below stay unless `config` sets them, as with FROM in a
    Dockerfile.
    """
    base = below.settings
    inherited = {k: v for k, v in (base.get("config") or {}).items() if k not in ("Cmd", "OnBuild")}
    variables = dict(pair.split("=", 1) for pair in inherited.get("Env") or ())
    variables |= config.environment
    own = [
        {"created": TIMESTAMP, "created_by": "theano-stacks", "comment": layer.name}
        for layer in layers
    ]
    diff_ids = base["rootfs"]["diff_ids"] if base else []
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": TIMESTAMP,
        "config": {
            **inherited,
            "User": config.user,
            "Env": [f"{name}={value}" for name, value in variables.items()],
            "Entrypoint": list(config.entrypoint),
            "WorkingDir": config.workdir,
            "Labels": (inherited.get("Labels") or {}) | config.labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [*diff_ids, *(la.diff_id for la in layers)]},
        "history": [*(base.get("history") or ()), *own],
    }


def _archive(
    target: Path, layers: Sequence[Blob], settings: Blob, sbom: Blob, names: Sequence[str]
) -> Digests:
    """Write an OCI layout with the image and, as an artifact that refers to it, its SBOM.

    The files of the layers are deleted.
    """
    manifest = _manifest(settings, layers)
    empty = _blob("application/vnd.oci.empty.v1+json", EMPTY)
    attached = _manifest(empty, [sbom], artifactType=SBOM_TYPE, subject=manifest.descriptor)
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
            tar.addfile(_entry(name, None))
        for blob in sorted({blob.name: blob for blob in blobs}.values(), key=lambda b: b.name):
            with blob.path.open("rb") if blob.path else io.BytesIO(blob.data) as file:
                tar.addfile(_entry(blob.name, blob.size), file)
            if blob.path:
                blob.path.unlink()
    return Digests(manifest.digest, settings.digest)


def _saved_layer(path: Path) -> Blob:
    """Return a layer of another image, as the engine saved it."""
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    kind = f"{TYPES}.layer.v1.tar{'+gzip' if compressed else ''}"
    return Blob(kind, f"sha256:{sha256_of(path)}", path.stat().st_size, path)


def _manifest(config: Blob, layers: Sequence[Blob], **more: Any) -> Blob:
    kind = f"{TYPES}.manifest.v1+json"
    content = {"schemaVersion": 2, "mediaType": kind, "config": config.descriptor}
    return _json(kind, {**content, "layers": [layer.descriptor for layer in layers], **more})


def _entry(name: str, size: int | None) -> tarfile.TarInfo:
    """Return the entry of a file, or of a folder if there is no size."""
    entry = tarfile.TarInfo(name)
    entry.mtime, entry.mode = EPOCH, 0o755 if size is None else 0o644
    entry.size, entry.type = size or 0, tarfile.DIRTYPE if size is None else tarfile.REGTYPE
    return entry
