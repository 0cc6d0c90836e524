"""Conda packages, built from a recipe and its pinned sources, in the cache."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.channel.assemble import Built, _describe, assemble, file_name, inputs_hash
from stacks.channel.recipe import Archives, Debs, Recipe
from stacks.core.disk import explain_disk_errors, hold_lock, replace_atomically, sha256_of
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import Pin, Pins

LOGGER = logging.getLogger(__name__)


def cached_path(workspace: Workspace, recipe: Recipe, inputs: str) -> Path:
    """Return the path of a package in the cache, whether or not it is there."""
    return workspace.cache / "packages" / inputs / file_name(recipe, inputs)


def cached(workspace: Workspace, recipe: Recipe, inputs: str) -> Built | None:
    """Return a package from the cache, None if it is missing or damaged."""
    path = cached_path(workspace, recipe, inputs)
    with explain_disk_errors(path):
        try:
            built = Built(path, **json.loads((path.parent / "built.json").read_bytes()))
            return built if sha256_of(path) == built.sha256 else None
        except (FileNotFoundError, ValueError, TypeError):
            return None


def build(workspace: Workspace, recipe: Recipe, pins: Pins, tools: Sequence[Recipe] = ()) -> Built:
    """Return the recipe's package, from the cache or built from its pinned sources.

    tools: the recipes of the packages that it is built with. Raises FetchError or IntegrityError if
    a source is not available as pinned.
    """
    sources = recipe.pins(pins)
    inputs = inputs_hash(recipe, sources, [inputs_hash(tool, tool.pins(pins)) for tool in tools])
    target = cached_path(workspace, recipe, inputs).parent
    with hold_lock(target, f"the package {recipe.package.name} {recipe.package.version}"):
        built = cached(workspace, recipe, inputs)
        if built:
            return built
        if target.exists():
            print(f"{target} is damaged in the cache; building it again", file=sys.stderr)
        files = _by_name(recipe, pins, fetch(workspace, sources))
        built_with = [build(workspace, tool, pins) for tool in tools]
        return _store(workspace, recipe, inputs, files, built_with)


def build_local(workspace: Workspace, recipe: Recipe, source: Path) -> tuple[str, Built]:
    """Return (hash of the inputs, package) of a recipe whose only source is a user's file."""
    inputs = inputs_hash(recipe, (), [sha256_of(source)])
    with hold_lock(
        cached_path(workspace, recipe, inputs).parent, f"the package {recipe.package.name}"
    ):
        built = cached(workspace, recipe, inputs)
        return inputs, built or _store(workspace, recipe, inputs, {source.name: source}, ())


def _store(
    workspace: Workspace,
    recipe: Recipe,
    inputs: str,
    sources: Mapping[str, Path],
    built_with: Sequence[Built],
) -> Built:
    """Make a package in the cache."""
    target = cached_path(workspace, recipe, inputs).parent
    with replace_atomically(target) as folder:
        folder.mkdir()
        path = assemble(recipe, inputs, sources, folder, built_with)
        description = _describe(path)
        (folder / "built.json").write_text(json.dumps(description) + "\n")
    LOGGER.info("built %s, %d bytes", path.name, description["size"])
    return Built(target / path.name, **description)


def _by_name(recipe: Recipe, pins: Pins, fetched: Mapping[Pin, Path]) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for source in recipe.source:
        if isinstance(source, Debs):
            named |= {name: fetched[pins.deb(source.suite, name)] for name in source.debs}
        elif isinstance(source, Archives):
            named |= {name: fetched[pins.deb(source.suite, name)] for name in source.names}
        else:
            named[source.file] = fetched[pins.file(source.file)]
    return named
