"""A recipe and its sources become a conda package whose bytes depend on nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.channel.assemble import Built, _describe, assemble, file_name, inputs_hash
from stacks.channel.recipe import Archives, Debs, Recipe
from stacks.core.disk import explain_disk_errors, hold_lock, replace_atomically, sha256_of
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import Pin, Pins


def cached_path(workspace: Workspace, recipe: Recipe, inputs: str) -> Path:
    """Return where the built package lies in the cache, whether or not it is there."""
    return workspace.cache / "packages" / inputs / file_name(recipe, inputs)


def cached(workspace: Workspace, recipe: Recipe, inputs: str) -> Built | None:
    """Return the package if the cache has it whole, None where it is missing or damaged."""
    path = cached_path(workspace, recipe, inputs)
    with explain_disk_errors(path):
        try:
            recorded = Built(path, **json.loads((path.parent / "built.json").read_bytes()))
            return recorded if sha256_of(path) == recorded.sha256 else None
        except (FileNotFoundError, ValueError, TypeError):
            return None


def build(workspace: Workspace, recipe: Recipe, pins: Pins, tools: Sequence[Recipe] = ()) -> Built:
    """Return the recipe's package, from the cache or built now from its pinned sources.

    `tools` are the recipes of the packages that it is built with, which need none themselves.
    Raises FetchError or IntegrityError where a source cannot be had as pinned.
    """
    wanted = recipe.pins(pins)
    inputs = inputs_hash(recipe, wanted, [inputs_hash(tool, tool.pins(pins)) for tool in tools])
    target = cached_path(workspace, recipe, inputs).parent
    with hold_lock(target, f"the package {recipe.package.name} {recipe.package.version}"):
        found = cached(workspace, recipe, inputs)
        if found:
            return found
        if target.exists():
            print(f"{target}: damaged in the cache; building it again", file=sys.stderr)
        sources = _by_name(recipe, pins, fetch(workspace, wanted))
        return _keep(
            workspace, recipe, inputs, sources, [build(workspace, tool, pins) for tool in tools]
        )


def build_local(workspace: Workspace, recipe: Recipe, source: Path) -> tuple[str, Built]:
    """Return (the inputs' hash, the package) of a recipe whose one source is the user's file.

    The package's bytes follow from the recipe and that file's; no pin knows them.
    """
    inputs = inputs_hash(recipe, (), [sha256_of(source)])
    with hold_lock(
        cached_path(workspace, recipe, inputs).parent, f"the package {recipe.package.name}"
    ):
        found = cached(workspace, recipe, inputs)
        return inputs, found or _keep(workspace, recipe, inputs, {source.name: source}, ())


def _keep(
    workspace: Workspace,
    recipe: Recipe,
    inputs: str,
    sources: Mapping[str, Path],
    built_with: Sequence[Built],
) -> Built:
    """Make a package and put it into the cache."""
    target = cached_path(workspace, recipe, inputs).parent
    with replace_atomically(target) as folder:
        folder.mkdir()
        path = assemble(recipe, inputs, sources, folder, built_with)
        description = _describe(path)
        (folder / "built.json").write_text(json.dumps(description) + "\n")
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
