"""Packages in the cache, by their SHA-256; and building one from its recipe and pinned sources.

packages/SHA256/FILE    a package, whoever made it: what a lock names is looked up here
built/KEY               the file name and SHA-256 of what this code made of a recipe, as JSON
"""

from __future__ import annotations

import glob
import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.assemble import assemble, cache_key, file_name, recipe_hash
from stacks.channel.recipe import Recipe
from stacks.core import jsonfile
from stacks.core.disk import (
    explain_disk_errors,
    hold_lock,
    replace_atomically,
    sha256_of,
    temporary_folder,
)
from stacks.core.models import FILE_NAME, SHA256
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import Pins


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
PACKAGES, BUILT = "packages", "built"


def cached(workspace: Workspace, name: str, sha256: str) -> Built | None:
    """Return the package with this file name and SHA-256 if it is in the cache, else None.

    A damaged file is not the package.
    """
    packages = workspace.cache / PACKAGES
    # Second: where versions before the first release kept it.
    for path in (packages / sha256 / name, *packages.glob(f"*/{glob.escape(name)}")):
        with explain_disk_errors(path):
            try:
                if sha256_of(path) == sha256:
                    return Built(path, sha256)
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                continue
    return None


def sound(workspace: Workspace, name: str, sha256: str) -> Built | None:
    """Do as `cached`, and print a line if the package is there and damaged."""
    built = cached(workspace, name, sha256)
    if built is None and (workspace.cache / PACKAGES / sha256).exists():
        print(f"{name}: damaged in the cache; it is made again", file=sys.stderr)
    return built


@contextmanager
def being_made(workspace: Workspace, sha256: str, name: str) -> Iterator[None]:
    """Hold the lock of a package's folder in the cache for the block; name: for messages."""
    with hold_lock(workspace.cache / PACKAGES / sha256, f"the package {name}"):
        yield


def build(workspace: Workspace, recipe: Recipe, pins: Pins, tools: Sequence[Recipe] = ()) -> Built:
    """Return the recipe's package: what this code built before, or built from its pinned sources.

    `tools` are the recipes of the packages that build it; they are themselves built with none.
    Raises FetchError or IntegrityError where a source is not available as pinned.
    """
    digest, key = _digest_and_key(recipe, pins, tools)
    with hold_lock(workspace.cache / BUILT / key, f"the package {file_name(recipe, digest)}"):
        if built := _built_before(workspace, recipe, digest, key):
            return built
        files = fetch(workspace, recipe.pins(pins))
        sources = {name: files[pin] for name, pin in recipe.pins_by_name(pins).items()}
        built_with = [build(workspace, tool, pins).path for tool in tools]
        return _make(workspace, recipe, digest, key, sources, built_with)


def built_before(
    workspace: Workspace, recipe: Recipe, pins: Pins, tools: Sequence[Recipe] = ()
) -> Built | None:
    """Return the recipe's package if this code has built it and it is in the cache, else None."""
    digest, key = _digest_and_key(recipe, pins, tools)
    return _built_before(workspace, recipe, digest, key)


def build_user_package(workspace: Workspace, recipe: Recipe, source: Path) -> tuple[str, Built]:
    """Return (the recipe hash, the package) of a recipe whose one source is the user's file.

    The hash covers the recipe and that file; no pin does.
    """
    digest = recipe_hash(recipe, (), [sha256_of(source)])
    key = cache_key(recipe, digest)
    with hold_lock(workspace.cache / BUILT / key, f"the package {file_name(recipe, digest)}"):
        built = _built_before(workspace, recipe, digest, key)
        return digest, built or _make(workspace, recipe, digest, key, {source.name: source}, ())


def add(workspace: Workspace, file: Path, name: str, sha256: str) -> Built:
    """Move a package's file, which has this SHA-256, into the cache."""
    target = workspace.cache / PACKAGES / sha256
    # `serve` makes hard links to it: an edit there must not reach the cache.
    file.chmod(0o444)
    with replace_atomically(target) as folder:
        folder.mkdir()
        file.rename(folder / name)
    return Built(target / name, sha256)


def _digest_and_key(recipe: Recipe, pins: Pins, tools: Sequence[Recipe]) -> tuple[str, str]:
    made_with = [_digest_and_key(tool, pins, ()) for tool in tools]
    digest = recipe_hash(recipe, recipe.pins(pins), [each for each, _ in made_with])
    return digest, cache_key(recipe, digest, [key for _, key in made_with])


def _built_before(workspace: Workspace, recipe: Recipe, digest: str, key: str) -> Built | None:
    """Return what is recorded under a key if it is in the cache and undamaged, else None."""
    path = workspace.cache / BUILT / key
    with explain_disk_errors(path):
        try:
            record = jsonfile.read(path)
        except (FileNotFoundError, IsADirectoryError, ValueError):
            return None
    if not isinstance(record, dict) or record.keys() != {"file", "sha256"}:
        return None
    name, sha256 = str(record["file"]), str(record["sha256"])
    known = name == file_name(recipe, digest) and re.fullmatch(SHA256, sha256)
    if not known or not re.fullmatch(FILE_NAME, name):
        return None
    return sound(workspace, name, sha256)


def _make(
    workspace: Workspace,
    recipe: Recipe,
    digest: str,
    key: str,
    sources: Mapping[str, Path],
    built_with: Sequence[Path],
) -> Built:
    """Build a package into the cache, and record it under its key."""
    packages = workspace.cache / PACKAGES
    with explain_disk_errors(packages):
        packages.mkdir(parents=True, exist_ok=True)
        with temporary_folder(packages, f".{key}.", ".part") as folder:
            path = assemble(recipe, digest, sources, folder, built_with)
            built = add(workspace, path, path.name, sha256_of(path))
    # Not write_atomically: a folder may stand in the record's place.
    with replace_atomically(workspace.cache / BUILT / key) as record:
        record.write_text(json.dumps({"file": built.path.name, "sha256": built.sha256}) + "\n")
    LOGGER.info("built %s, %d bytes", built.path.name, built.size)
    return built
