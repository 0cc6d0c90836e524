"""An image that an engine has, as the base of another: its layers, and what it sets."""

from __future__ import annotations

import json
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.core.errors import IntegrityError


@dataclass(frozen=True)
class SavedImage:
    """An image as an engine saved it.

    settings: its OCI image configuration. layers: the files of its layers, lowest first, each a tar
    archive or a compressed one.
    """

    settings: dict[str, Any]
    layers: tuple[Path, ...]


def read(archive: Path, folder: Path) -> SavedImage:
    """Unpack what `docker save` wrote for one image into the new folder `folder`.

    Raises IntegrityError if the archive is not one of an image for Linux on x86-64.
    """
    folder.mkdir()
    try:
        with tarfile.open(archive) as tar:
            (description,) = json.loads(_content(tar, "manifest.json"))
            settings = json.loads(_content(tar, description["Config"]))
            layers = []
            for number, name in enumerate(description["Layers"]):
                file = tar.extractfile(name)
                assert file, name
                layers.append(folder / str(number))
                with layers[-1].open("wb") as out:
                    shutil.copyfileobj(file, out, 1 << 20)
    except (tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise IntegrityError(
            "the engine's archive of the base image cannot be read", found=repr(error)
        ) from error
    platform = f"{settings.get('os')}/{settings.get('architecture')}"
    if platform != "linux/amd64":
        raise IntegrityError(
            "the base image is for another machine",
            expected="linux/amd64",
            found=platform,
            fix="docker pull --platform linux/amd64 IMAGE, or choose another base",
        )
    return SavedImage(settings, tuple(layers))


def _content(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file, name
    return file.read()
