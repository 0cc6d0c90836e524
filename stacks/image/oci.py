"""An image made without an engine: an OCI layout in a tar archive.

`docker load` and `podman load` read its `manifest.json`, as in an archive of `docker save`; skopeo,
crane and Apptainer read it as an OCI archive. It holds one image and nothing beside it, because
Apptainer 1.4 has no way to choose. Format: OCI image specification 1.1.
"""

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.core import console
from stacks.core.disk import replace_atomically, temporary_folder
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.paths import check_replaceable
from stacks.core.process import quoted
from stacks.core.reproducible import EPOCH, TIMESTAMP
from stacks.core.workspace import Workspace
from stacks.image import base, files, layout
from stacks.image.layout import Layers
from stacks.image.metadata import ImageConfig, config_of
from stacks.sources.registry import MANIFEST, Blob
from stacks.variants.variant import Variant

TYPES = "application/vnd.oci.image"


def write(workspace: Workspace, variant: Variant, target: Path) -> str:
    """Write a variant's image to the file `target` and return its digest (`sha256:...`).

    The same commit gives the same bytes. Raises UsageError if `target` cannot be a file, DiskError;
    a failure leaves no partial archive.
    """
    if target.is_dir():
        raise UsageError(f"{target} is a folder", fix=f"name a file: {target / 'image.tar'}")
    check_replaceable(target)
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is no folder", fix=f"mkdir -p {target.parent}")
    layers, config = layout.lay_out(workspace, variant), config_of(workspace, variant)
    return pack(config, base.tar(workspace), layers, target)[0]


def pack(
    config: ImageConfig, root: Path, layers: Layers, target: Path, names: Sequence[str] = ()
) -> tuple[str, str]:
    """Write the image of these layers, which are ready, to the file `target`.

    root: the base, a tar archive. names: instead of the image's names, with their tags.

    Returns the digests of its manifest, which names it in registries, and of its configuration: an
    engine names an image by one of them. Raises DiskError, IntegrityError if a layer changed after
    it was made.
    """
    contents = {"base": root, **layers.folders}
    with replace_atomically(target) as made, temporary_folder(made.parent, "layers-") as folder:
        with console.step("layers", "") as description:
            blobs = dict(zip(contents, files.compress(contents, folder), strict=True))
            description.append(f"{sum(b.size for b in blobs.values()) / 1e6:.0f} MB, compressed")
        for name, expected in layers.digests.items():
            if blobs[name].diff_id != expected:
                raise IntegrityError(
                    f"{layers.folder / name} changed after it was made",
                    expected=expected,
                    found=blobs[name].diff_id,
                    fix=f"{quoted(['rm', '-r', layers.folder])}, then run the command again; "
                    "if it fails again, check the disk",
                )
        with console.step("archive", console.display_path(target)):
            return _archive(made, blobs, config, names or config.names)


def image_config(layers: Mapping[str, Blob], config: ImageConfig) -> dict[str, Any]:
    """Return the OCI image configuration: how the image starts, and the digests of its layers."""
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": TIMESTAMP,
        "config": {
            "User": config.user,
            "Env": [f"{name}={value}" for name, value in config.environment.items()],
            "Entrypoint": list(config.entrypoint),
            "WorkingDir": config.workdir,
            "Labels": config.labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers.values()]},
        "history": [
            {"created": TIMESTAMP, "created_by": "theano-stacks", "comment": name}
            for name in layers
        ],
    }


def _archive(
    target: Path, own: Mapping[str, Blob], config: ImageConfig, names: Sequence[str]
) -> tuple[str, str]:
    """Write an OCI layout with the image.

    The files of the layers are deleted, so that an image does not need its space twice.
    """
    layers = [*own.values()]
    settings = _json(f"{TYPES}.config.v1+json", image_config(own, config))
    manifest = _json(
        MANIFEST,
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": settings.descriptor,
            "layers": [layer.descriptor for layer in layers],
        },
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
            "manifests": [named],
        },
        # For `docker load` of engines without support for OCI layouts.
        "manifest.json": [
            {
                "Config": _path(settings),
                "RepoTags": list(names),
                "Layers": [_path(layer) for layer in layers],
            }
        ],
        "oci-layout": {"imageLayoutVersion": "1.0.0"},
    }
    blobs = [*layers, settings, manifest]
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in documents.items():
            text = json.dumps(content, sort_keys=True).encode()
            tar.addfile(_entry(name, len(text)), io.BytesIO(text))
        # Apptainer makes no folders but those that are entries.
        for name in ("blobs", "blobs/sha256"):
            tar.addfile(_entry(name, None))
        for path, blob in sorted({_path(blob): blob for blob in blobs}.items()):
            data = blob.content
            with data.open("rb") if isinstance(data, Path) else io.BytesIO(data) as file:
                tar.addfile(_entry(path, blob.size), file)
            if isinstance(data, Path):
                data.unlink()
    return manifest.digest, settings.digest


def _path(blob: Blob) -> str:
    """Return the path in the archive."""
    return f"blobs/{blob.digest.replace(':', '/')}"


def _json(kind: str, content: Any) -> Blob:
    return Blob(kind, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def _entry(name: str, size: int | None) -> tarfile.TarInfo:
    """Return the entry of a file, or of a folder if there is no size."""
    entry = tarfile.TarInfo(name)
    entry.mtime, entry.mode = EPOCH, 0o755 if size is None else 0o644
    entry.size, entry.type = size or 0, tarfile.DIRTYPE if size is None else tarfile.REGTYPE
    return entry
