"""Packages in the cache, by their SHA-256; and building one from its recipe and pinned sources.

packages/SHA256/FILE    a package, whoever made it: what a lock names is looked up here
built/KEY               the SHA-256 of what this code made of a recipe
unpacked/NAME           a package's files, from which environments are linked
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stacks.channel.assemble import Candidate, assemble, recipe_hash, unpack_packages
from stacks.channel.recipe import Recipe
from stacks.core.disk import (
    explain_disk_errors,
    hold_lock,
    remove_leftover,
    replace_atomically,
    sha256_of,
    temporary_folder,
)
from stacks.core.models import SHA256
from stacks.core.workspace import BUILT, PACKAGES, UNPACKED, Workspace
from stacks.sources.conda_archive import is_unpacked
from stacks.sources.fetch import fetch
from stacks.sources.pins import LockedPackage, Pin, Pins, digest_at

if TYPE_CHECKING:
    from stacks.sources.places import Place


@dataclass(frozen=True)
class Built:
    """A package in the cache: its file and the SHA-256 of its bytes, in hexadecimal."""

    path: Path
    sha256: str

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.path.stat().st_size


LOGGER = logging.getLogger(__name__)


def cached(workspace: Workspace, name: str, sha256: str) -> Built | None:
    """Return the package with this file name and SHA-256 if it is in the cache, else None.

    A damaged file is not the package; a line says that it is there.
    """
    path = workspace.cache / PACKAGES / sha256 / name
    if digest_at(path) == sha256:
        return Built(path, sha256)
    if path.parent.exists():
        print(f"{name}: damaged in the cache; it is made again", file=sys.stderr)
    return None


def retrieve(
    workspace: Workspace, places: Sequence[Place], packages: Sequence[LockedPackage]
) -> dict[str, tuple[str, Built]]:
    """Take packages into the cache, each from the first channel that has it.

    Returns the channel's name and the package, with the locked bytes, by file name; what was in no
    channel is missing. A channel that fails or has other bytes costs one warning. Raises DiskError.
    """
    # Loaded here: most runs find all in the cache and need no HTTP library.
    from stacks.sources.retrieve import retrieve as retrieve_files

    def path_of(pin: Pin) -> Path:
        return workspace.cache / PACKAGES / pin.sha256 / pin.filename

    found, _ = retrieve_files(workspace, packages, places, path_of)
    return {
        pin.filename: (place.name, Built(path_of(pin), pin.sha256)) for pin, place in found.items()
    }


def build(
    workspace: Workspace,
    candidate: Candidate,
    pins: Pins,
    tools: Path | None = None,
    file: Path | None = None,
) -> Built:
    """Return a package: what this code built before, or built from its pinned sources.

    tools: a folder with the packages that build it. file: the user's, in place of pinned sources.
    Raises FetchError or IntegrityError where a source is not available as pinned.
    """
    packages, key = workspace.cache / PACKAGES, candidate.cache_key
    with hold_lock(workspace.cache / BUILT / key, f"the package {candidate.file_name}"):
        if built := built_before(workspace, candidate):
            return built
        named = candidate.recipe.pins_by_name(pins)
        fetched = fetch(workspace, named.values())
        sources = {file.name: file} if file else {name: fetched[named[name]] for name in named}
        with explain_disk_errors(packages):
            packages.mkdir(parents=True, exist_ok=True)
            with temporary_folder(packages, f".{key}.", ".part") as folder:
                path = assemble(candidate, sources, folder, tools)
                built = add(workspace, path, path.name, sha256_of(path))
        # Not write_atomically: a folder may stand in the record's place.
        with replace_atomically(workspace.cache / BUILT / key) as record:
            record.write_text(built.sha256)
        LOGGER.info("built %s, %d bytes", built.path.name, built.size)
        return built


def build_user_package(
    workspace: Workspace, recipe: Recipe, source: Path
) -> tuple[Candidate, Built]:
    """Return the package of a recipe whose one source is the user's file.

    Its recipe hash covers the recipe and that file; no pin does.
    """
    candidate = Candidate(recipe, recipe_hash(recipe, (), [sha256_of(source)]))
    return candidate, build(workspace, candidate, Pins(), file=source)


@contextmanager
def unpacked_tools(
    workspace: Workspace, pins: Pins
) -> Iterator[Callable[[Candidate], Path | None]]:
    """Give a function that returns the folder of the tools of a candidate, None if it needs none.

    It is that from which environments are linked, where it is undamaged. Else all packages that are
    built with the same tools share a folder, which goes with the block. A tool that is not in the
    cache is built.
    """
    parent = workspace.cache / PACKAGES
    found: dict[tuple[str, ...], Path] = {}
    with explain_disk_errors(parent):
        parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(parent, ".tools.", ".part") as folder:

            def tools_of(candidate: Candidate) -> Path | None:
                if not candidate.tools:
                    return None
                key = tuple(tool.hash for tool in candidate.tools)
                if key not in found:
                    built = [build(workspace, t, pins, tools_of(t)).path for t in candidate.tools]
                    found[key] = workspace.cache / UNPACKED / built[0].stem
                    if len(built) > 1 or not is_unpacked(built[0], found[key]):
                        found[key] = folder / str(len(found))
                        unpack_packages(built, found[key])
                return found[key]

            yield tools_of


def remove_left_by_killed(workspace: Workspace) -> None:
    """Remove the temporary folders that killed processes left where packages are built."""
    for name in (PACKAGES, BUILT):
        for folder in (workspace.cache / name).glob(f".*.{'?' * 8}.part"):
            with suppress(FileNotFoundError):
                if folder.lstat().st_uid == os.geteuid():
                    remove_leftover(folder)


def built_before(workspace: Workspace, candidate: Candidate) -> Built | None:
    """Return a package if this code has built it and it is in the cache undamaged, else None."""
    path = workspace.cache / BUILT / candidate.cache_key
    with explain_disk_errors(path):
        try:
            sha256 = path.read_text()
        except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
            return None
    return cached(workspace, candidate.file_name, sha256) if re.fullmatch(SHA256, sha256) else None


def add(workspace: Workspace, file: Path, name: str, sha256: str) -> Built:
    """Move a package's file, which has this SHA-256, into the cache."""
    target = workspace.cache / PACKAGES / sha256
    # `serve` makes hard links to it: an edit there must not reach the cache.
    file.chmod(0o444)
    with replace_atomically(target) as folder:
        folder.mkdir()
        file.rename(folder / name)
    return Built(target / name, sha256)
