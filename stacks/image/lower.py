"""What an image's layers lie on: the locked base, another root, or an image that an engine has."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.image import base


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
    return Lower(base.name(workspace), base.tar(workspace), is_locked=True)


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


def of_saved(name: str, archive: Path, folder: Path) -> Lower:
    """Unpack what `docker save` wrote for an image into the new folder `folder`.

    Raises IntegrityError if the archive is not one of an image for Linux on x86-64.
    """
    folder.mkdir()
    try:
        with tarfile.open(archive) as tar:
            (description,) = json.loads(_content(tar, "manifest.json"))
            settings = json.loads(_content(tar, description["Config"]))
            layers = []
            for number, member in enumerate(description["Layers"]):
                file = tar.extractfile(member)
                assert file, member
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
    return Lower(name, settings=settings, layers=tuple(layers))


def _content(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file, name
    return file.read()
