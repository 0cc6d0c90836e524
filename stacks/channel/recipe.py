"""Read recipes/*/recipe.yaml: the sources, requirements and stage of the channel's packages.

The keys follow the conda recipe format, with two differences: a source is a pin in
recipes/sources.lock instead of a URL, and `extra` names the stage that makes the package's files.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from stacks.channel.stages import (
    BLIS,
    Compiled,
    Extra,
    Forwarding,
    PoCL,
    PythonModules,
    RelinkedWheel,
    ThinFront,
)
from stacks.core import yamlfile
from stacks.core.models import FileName, Line, Name, Spec, Strict, Version
from stacks.sources.pins import DebPin, IndexPin, Pins

# Stages that take files of the recipe's folder src/.
OWN_CODE = (BLIS, Compiled, Forwarding, PoCL, PythonModules, ThinFront)


class RecipePackage(Strict):
    """The name and version of the conda package."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    version: str = Field(pattern=r"^[0-9][0-9A-Za-z.]*$")


class Build(Strict):
    """The parts of the build string, and whether the package is for every platform."""

    number: int = Field(default=0, ge=0)
    noarch: Literal["python"] | None = None
    label: str = Field(
        default="", pattern=r"^[a-z0-9]*$", description="first part of the build string"
    )
    variant: str = Field(
        default="",
        pattern=r"^[a-z0-9_.+]*$",
        description="last part of the build string: name=*=*variant requests it",
    )


class Debs(Strict):
    """Binary packages of one suite of Debian's archive."""

    suite: Name
    debs: tuple[Name, ...] = Field(strict=False, min_length=1)


class Sources(Strict):
    """Files of Debian's source packages."""

    suite: Name
    sources: tuple[Name, ...] = Field(strict=False, min_length=1)
    files: Line = Field(default="*", description="pattern of the files that are needed")


class IndexFile(Strict):
    """One file of the Python package index."""

    project: FileName
    version: Version
    file: FileName


class Requirements(Strict):
    """Conda match specs."""

    build: tuple[Name, ...] = Field(
        default=(), strict=False, description="names of the channel's packages that build this one"
    )
    run: tuple[Spec, ...] = Field(default=(), strict=False)
    run_constraints: tuple[Spec, ...] = Field(default=(), strict=False)


class About(Strict):
    """Homepage, licence and summary of the software, and whether it may be published again.

    What concerns publishing decides no byte of the package, so it is in no hash.
    """

    homepage: Line | None = None
    license: Line
    summary: Line
    republish: Literal["yes", "with sources", "on request", "no"] = Field(
        exclude=True, description="whether the licences allow publishing the package"
    )
    conditions: Line = Field(
        default="", exclude=True, description="what must go with it, or why it must not be done"
    )
    sources: tuple[Sources, ...] = Field(
        default=(),
        strict=False,
        exclude=True,
        description="source packages of the parts whose licences ask for their source",
    )

    @model_validator(mode="after")
    def _conditions_are_said(self) -> About:
        if self.republish != "yes" and not self.conditions:
            raise ValueError("say the conditions of what is not simply republished")
        if self.sources and self.republish != "with sources":
            raise ValueError("sources go with a package that is republished `with sources`")
        return self


class Recipe(Strict):
    """One package of the channel."""

    package: RecipePackage
    build: Build = Build()
    source: tuple[Debs | Sources | IndexFile, ...] = Field(default=(), strict=False)
    requirements: Requirements = Requirements()
    about: About
    extra: Extra
    # Where it was read from: the folder of all recipes.
    recipes: Path | None = Field(default=None, exclude=True)

    @property
    def links_out(self) -> frozenset[str]:
        """The links in lib/ whose target may be a file of a required package."""
        links: dict[str, str] = getattr(self.extra, "links", {})
        return frozenset(links)

    @property
    def subdir(self) -> str:
        """The package's folder in the channel."""
        return "noarch" if self.build.noarch else "linux-64"

    @property
    def own_folder(self) -> Path:
        """The folder of the project's own source files."""
        assert self.recipes
        return self.recipes / self.package.name / "src"

    def own_sources(self) -> tuple[Path, ...]:
        """Return the project's own source files in the recipe's folder src/, sorted.

        Bytecode beside Python files is not one of them. Of a wheel they are the licences that it
        lacks.
        """
        if self.recipes is None:
            return ()
        if isinstance(self.extra, RelinkedWheel):
            return tuple(sorted(self.own_folder / name for name in self.extra.licences))
        if not isinstance(self.extra, OWN_CODE):
            return ()
        files = (path for path in self.own_folder.rglob("*") if path.is_file())
        return tuple(sorted(path for path in files if path.suffix not in (".pyc", ".pyo")))

    def pins(self, pins: Pins) -> tuple[DebPin | IndexPin, ...]:
        """Return the pins of the recipe's sources; UsageError where one is not in sources.lock."""
        return tuple(self.pins_by_name(pins).values())

    def pins_by_name(self, pins: Pins) -> dict[str, DebPin | IndexPin]:
        """Return the same pins by the names that BuildContext.sources has, in the same order."""
        named: dict[str, DebPin | IndexPin] = {}
        for source in self.source:
            if isinstance(source, IndexFile):
                named[source.file] = pins.file(source.file)
            elif isinstance(source, Sources):
                named |= {
                    pin.filename: pin
                    for name in source.sources
                    for pin in pins.source(source.suite, name)
                    if fnmatch(pin.filename, source.files)
                }
            else:
                named |= {name: pins.deb(source.suite, name) for name in source.debs}
        return named


def read_recipes(folder: Path) -> dict[str, Recipe]:
    """Return every recipe by the name of its folder, sorted; UsageError for an invalid one."""
    names = sorted(path.parent.name for path in folder.glob("*/recipe.yaml"))
    return {name: read_recipe(folder, name) for name in names}


def read_recipe(folder: Path, name: str) -> Recipe:
    """Return one recipe by the name of its folder; UsageError where it is not valid."""
    recipe = yamlfile.load(folder / name / "recipe.yaml", Recipe)
    return recipe.model_copy(update={"recipes": folder})
