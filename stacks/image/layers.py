"""An image's layers over its base, as folders on disk, and the record of what they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stacks.core import jsonfile
from stacks.image import normalised
from stacks.image.config import PREFIX

RECORD = "ready.json"
NAMES = ("packages", "blas", "settings")
SHARE = f"{PREFIX}/share/theano-stacks"
SBOM = f"{SHARE}/sbom.cdx.json"
# The same for an image on another base, whose packages are unknown.
SBOM_WITHOUT_BASE = f"{SHARE}/sbom-without-base.cdx.json"


@dataclass(frozen=True)
class Layers:
    """The layers of an image over its base: folders of `folder`.

    key: the hash of everything that decides them. digests: by name, lowest first, of their tar
    archives (`sha256:...`).
    """

    folder: Path
    key: str
    digests: Mapping[str, str]

    @property
    def folders(self) -> dict[str, Path]:
        """The folder of each layer by its name, lowest first."""
        return {name: self.folder / name for name in self.digests}

    def sbom(self, *, locked_base: bool) -> bytes:
        """Return the SBOM in the layers, with the locked base or without."""
        path = SBOM if locked_base else SBOM_WITHOUT_BASE
        return (self.folder / NAMES[-1] / path[1:]).read_bytes()


def seal(folder: Path, key: str) -> Layers:
    """Write the record of the layers that were made in a folder, and return them."""
    folders = {name: folder / name for name in NAMES if (folder / name).is_dir()}
    layers = Layers(folder, key, {n: normalised.digest_of(path) for n, path in folders.items()})
    modes = {name: normalised.modes_of(path) for name, path in folders.items()}
    content = {"key": key, "digests": layers.digests, "modes": modes}
    (folder / RECORD).write_text(json.dumps(content) + "\n")
    return layers


def read(folder: Path) -> Layers | None:
    """Return the layers in a folder; None if the record is missing, or they have other modes.

    A `chmod -R` on the checkout or the cache, whose files these are, changes the image.
    """
    try:
        record = jsonfile.read(folder / RECORD)
        layers = Layers(folder, record["key"], dict(record["digests"]))
        modes = {name: normalised.modes_of(path) for name, path in layers.folders.items()}
        return layers if record["modes"] == modes else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
