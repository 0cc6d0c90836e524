"""Build packages from recipes and pinned sources, and keep them in the cache."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.assemble import assemble, file_name, inputs_hash
from stacks.channel.recipe import Recipe
from stacks.channel.stages import Texts
from stacks.channel.staging.texts import declare_placeholder
from stacks.core import jsonfile
from stacks.core.disk import explain_disk_errors, hold_lock, replace_atomically, sha256_of
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


@dataclass(frozen=True)
class Digests:
    """The digests of a package, in hexadecimal, and its size in bytes."""

    sha256: str
    md5: str
    size: int


LOGGER = logging.getLogger(__name__)
# The file beside a package with its SHA-256, by which damage is noticed.
RECORD = "built.json"


def cached_path(workspace: Workspace, recipe: Recipe, inputs: str) -> Path:
    """Return the path of the package in the cache, whether or not it exists."""
    return workspace.cache / "packages" / inputs / file_name(recipe, inputs)


def cached(
    workspace: Workspace, recipe: Recipe, inputs: str, *, built_here: bool = False
) -> Built | None:
    """Return the package if it is in the cache and undamaged, else None.

    built_here: only if it was built on this machine, and not taken from a published channel.
    """
    path = cached_path(workspace, recipe, inputs)
    with explain_disk_errors(path):
        try:
            record = jsonfile.read(path.parent / RECORD)
            if built_here and "place" in record:
                return None
            digest = sha256_of(path)
        except (FileNotFoundError, IsADirectoryError, ValueError, TypeError):
            return None
    if not isinstance(record, dict) or record.get("sha256") != digest:
        return None
    return Built(path, digest)


@contextmanager
def being_made(workspace: Workspace, recipe: Recipe, inputs: str) -> Iterator[None]:
    """Hold the lock of a package's folder in the cache for the block."""
    folder = cached_path(workspace, recipe, inputs).parent
    with hold_lock(folder, f"the package {recipe.package.name} {recipe.package.version}"):
        yield


def build(
    workspace: Workspace,
    recipe: Recipe,
    pins: Pins,
    tools: Sequence[Recipe] = (),
    *,
    built_here: bool = False,
) -> Built:
    """Return the recipe's package, from the cache or built from its pinned sources.

    `tools` are the recipes of the packages that build it; they are themselves built with none.
    built_here: build also what the cache took from a published channel. Raises FetchError or
    IntegrityError where a source is not available as pinned.
    """
    tool_hashes = [inputs_hash(tool, tool.pins(pins)) for tool in tools]
    inputs = inputs_hash(recipe, recipe.pins(pins), tool_hashes)
    folder = cached_path(workspace, recipe, inputs).parent
    with being_made(workspace, recipe, inputs):
        built = cached(workspace, recipe, inputs, built_here=built_here)
        if built:
            return built
        if folder.exists() and not cached(workspace, recipe, inputs):
            print(f"{folder}: damaged in the cache; building it again", file=sys.stderr)
        files = fetch(workspace, recipe.pins(pins))
        sources = {name: files[pin] for name, pin in recipe.pins_by_name(pins).items()}
        return _add_to_cache(
            workspace,
            recipe,
            inputs,
            sources,
            [build(workspace, tool, pins, built_here=built_here).path for tool in tools],
        )


def build_user_package(workspace: Workspace, recipe: Recipe, source: Path) -> tuple[str, Built]:
    """Return (the inputs' hash, the package) of a recipe whose one source is the user's file.

    The hash covers the recipe and that file; no pin does.
    """
    inputs = inputs_hash(recipe, (), [sha256_of(source)])
    with being_made(workspace, recipe, inputs):
        built = cached(workspace, recipe, inputs)
        return inputs, built or _add_to_cache(workspace, recipe, inputs, {source.name: source}, ())


def _add_to_cache(
    workspace: Workspace,
    recipe: Recipe,
    inputs: str,
    sources: Mapping[str, Path],
    built_with: Sequence[Path],
) -> Built:
    target = cached_path(workspace, recipe, inputs).parent
    with replace_atomically(target) as folder:
        folder.mkdir()
        path = assemble(recipe, inputs, sources, folder, built_with)
        if isinstance(recipe.extra, Texts):
            declare_placeholder(path, recipe.extra)
        digest = sha256_of(path)
        _complete(folder, path, {"sha256": digest})
    built = Built(target / path.name, digest)
    LOGGER.info("built %s, %d bytes", path.name, built.size)
    return built


def add(
    workspace: Workspace, recipe: Recipe, inputs: str, file: Path, sha256: str, place: str
) -> Built:
    """Move a package's file, which has this SHA-256 and came from a place, into the cache."""
    target = cached_path(workspace, recipe, inputs)
    with replace_atomically(target.parent) as folder:
        folder.mkdir()
        file.rename(folder / target.name)
        _complete(folder, folder / target.name, {"sha256": sha256, "place": place})
    return Built(target, sha256)


def _complete(folder: Path, path: Path, record: Mapping[str, str]) -> None:
    """Add the record to a package's new folder, which then has all that it needs."""
    # `serve` makes hard links to it: an edit there must not reach the cache.
    path.chmod(0o444)
    (folder / RECORD).write_text(json.dumps(record) + "\n")
