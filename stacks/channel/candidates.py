"""The packages that the project's channel offers: of recipes and variants' settings; the solver.

Nothing is built for this: the solver needs metadata only. Nor is a package read for the index of a
published channel, which follows from what the locks say.

The settings' package follows from envs/ as others do from recipes/. It is in the lock of each
variant, so an environment has the fast path whoever installs it. A stack.yaml has its flavour's
package, or, if it changes the settings, one of its own.
"""

from __future__ import annotations

import asyncio
import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import rattler
import zstandard
from rattler.exceptions import InvalidMatchSpecError, SolverError

from stacks.channel.assemble import Candidate, recipe_hash, translated
from stacks.channel.build_context import About, Build, RecipePackage, Requirements
from stacks.channel.recipe import Recipe, read_recipes
from stacks.channel.settings_files import HOOKS, PLACEHOLDER, render_files
from stacks.channel.staging.binaries import UserTarball
from stacks.channel.staging.stage import Texts
from stacks.core.disk import tmp_folder
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources.pins import LockedPackage, Pins, read_pins
from stacks.variants.variant import Variant

SUBDIRS = ("linux-64", "noarch")
# Of 51 packages' index: 19 takes 0.1 s.
COMPRESSION_LEVEL = 19
LICENCE = HOOKS / "LICENSE-settings"
# The system that locks are solved for, on any machine.
VIRTUAL_PACKAGES = {"__unix": "0", "__linux": "5.4", "__archspec": "1"}


@dataclass(frozen=True)
class Channel:
    """All packages of the recipes, by file name, and the pins of their sources."""

    candidates: Mapping[str, Candidate]
    pins: Pins


def read_channel(workspace: Workspace) -> Channel:
    """Return the channel of the recipes and pins; UsageError if one of them is not valid."""
    pins = read_pins(workspace.sources_lock)
    # A package made of the user's own file cannot be locked.
    known = {
        name: recipe
        for name, recipe in read_recipes(workspace.recipes).items()
        if not isinstance(recipe.extra, UserTarball)
    }
    candidates = [_candidate(recipe, known, pins) for recipe in known.values()]
    return Channel({candidate.file_name: candidate for candidate in candidates}, pins)


def _candidate(recipe: Recipe, known: Mapping[str, Recipe], pins: Pins) -> Candidate:
    names = recipe.requirements.build
    tools = tuple(_candidate(_tool(name, recipe, known), known, pins) for name in names)
    hashes = [tool.hash for tool in tools]
    return Candidate(recipe, recipe_hash(recipe, recipe.pins(pins), hashes), tools)


def _tool(name: str, recipe: Recipe, known: Mapping[str, Recipe]) -> Recipe:
    """Return the recipe of a package that another one is built with."""
    tools = [other for other in known.values() if other.package.name == name]
    if len(tools) != 1 or tools[0].requirements.build:
        raise UsageError(
            f"the recipe {recipe.package.name} cannot be built with {name}",
            expected="the name of exactly one package of the channel, itself built with none",
            found=f"{len(tools)} packages of that name",
            fix="correct `requirements.build` in the recipe",
        )
    return tools[0]


def with_settings(channel: Channel, variants: Iterable[Variant]) -> Channel:
    """Return a channel with the settings packages of variants; another channel has none."""
    candidates = [candidate_of(variant) for variant in variants if not variant.channel]
    settings = {candidate.file_name: candidate for candidate in candidates}
    return replace(channel, candidates={**channel.candidates, **settings})


def candidate_of(variant: Variant, compiler: str = "g++") -> Candidate:
    """Return the candidate of a variant's settings for an environment with this C++ compiler."""
    framework, name = variant.framework, variant.settings_package
    licence = f"share/licenses/{name}/LICENSE"
    recipe = Recipe(
        package=RecipePackage(name=name, version=framework.version),
        build=Build(noarch="python", variant=variant.settings_label),
        # In a package, the parts of a spec stand apart.
        requirements=Requirements(
            run=tuple(s.replace("=*=", " * ") for s in variant.linked_specs())
        ),
        about=About(
            license="BSD-3-Clause",
            summary=f"Settings of {framework.module}: BLAS, compiler, threads",
            republish="yes",
        ),
        extra=Texts(
            stage="texts",
            files={**render_files(variant, compiler), licence: LICENCE.read_text("utf-8")},
            placeholder=PLACEHOLDER,
        ),
    )
    return Candidate(recipe, recipe_hash(recipe, ()))


def repodata(subdir: str, packages: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the repodata.json of a subdir with the metadata of packages by their file names.

    conda, mamba, pixi and rattler read it. The same packages give the same bytes.
    """
    content = {
        "info": {"subdir": subdir},
        "packages": {},
        "packages.conda": packages,
        "repodata_version": 1,
    }
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


@dataclass(frozen=True)
class IndexEntry:
    """A package of the index: as it is locked, its index.json, its candidate if there is one."""

    package: LockedPackage
    index: Mapping[str, Any]
    candidate: Candidate | None = None

    @property
    def path(self) -> str:
        """The package's path in the channel."""
        return f"{self.package.subdir}/{self.package.filename}"

    @property
    def record(self) -> dict[str, Any]:
        """The package's metadata as in repodata.json."""
        known = {key: value for key, value in self.index.items() if value is not None}
        package = self.package
        return {**known, "sha256": package.sha256, "md5": package.md5, "size": package.size}

    @property
    def recipe(self) -> Recipe:
        """Its recipe; UsageError if there is none, so that its licence is not known."""
        if self.candidate is None:
            raise UsageError(
                f"{self.package.filename}: no recipe of this version gives this package",
                fix="./invoke lock",
            )
        return self.candidate.recipe


def index_files(entries: Iterable[IndexEntry]) -> dict[str, bytes]:
    """Return the index files of a channel with these packages, by their paths in it."""
    packages: dict[str, dict[str, Any]] = {subdir: {} for subdir in SUBDIRS}
    for entry in entries:
        packages[entry.package.subdir][entry.package.filename] = entry.record
    files = {}
    for subdir, records in packages.items():
        data = files[f"{subdir}/repodata.json"] = repodata(subdir, records)
        # Clients ask for it first.
        files[f"{subdir}/repodata.json.zst"] = zstandard.ZstdCompressor(
            level=COMPRESSION_LEVEL, threads=0
        ).compress(data)
    return files


def solve(channel: Channel, specs: Sequence[str], glibc: str = "2.31") -> tuple[Candidate, ...]:
    """Return the packages that satisfy the specs and their dependencies, sorted by name.

    glibc: the oldest C library that they must run on. Raises UsageError, with the solver's
    explanation, if there is no solution.
    """
    with tmp_folder() as folder:
        for subdir in SUBDIRS:
            candidates = channel.candidates.items()
            packages = {
                name: each.index for name, each in candidates if each.recipe.subdir == subdir
            }
            (folder / subdir).mkdir()
            (folder / subdir / "repodata.json").write_bytes(repodata(subdir, packages))
        fix = "correct the specs in envs/, or the requirements of the recipes"
        records = solve_index(folder, specs, glibc, "the channel", fix)
    return tuple(channel.candidates[record.file_name] for record in records)


def solve_index(
    folder: Path, specs: Sequence[str], glibc: str, name: str, fix: str
) -> list[rattler.RepoDataRecord]:
    """Return the packages of an indexed folder that satisfy the specs, sorted by name.

    name, fix: the channel and the fix in the UsageError if there is no solution.
    """
    with translated(folder, f"the index of {name} cannot be read"):
        try:
            records = asyncio.run(_solve(folder, specs, glibc))
        except (SolverError, InvalidMatchSpecError) as error:
            unmet = f"{name} cannot satisfy {', '.join(specs)}\n{error}"
            raise UsageError(unmet, fix=fix) from error
    return sorted(records, key=lambda record: record.name.normalized)


async def _solve(folder: Path, specs: Sequence[str], glibc: str) -> list[rattler.RepoDataRecord]:
    return await rattler.solve(
        sources=[rattler.Channel(folder.as_uri() + "/")],
        specs=[rattler.MatchSpec(spec, strict=False) for spec in specs],
        gateway=rattler.Gateway(cache_dir=folder / "cache"),
        platforms=["linux-64", "noarch"],
        virtual_packages=[
            rattler.GenericVirtualPackage(
                rattler.PackageName(name),
                rattler.Version(version),
                rattler.BuildString("x86_64" if name == "__archspec" else "0"),
            )
            for name, version in {**VIRTUAL_PACKAGES, "__glibc": glibc}.items()
        ],
        timeout=datetime.timedelta(minutes=1),
    )
