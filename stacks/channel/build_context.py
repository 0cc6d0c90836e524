"""What a stage gets: all of a recipe but the stage itself, its sources, and the folders.

The keys of a recipe follow the conda recipe format, with two differences: a source is a pin in
recipes/sources.lock instead of a URL, and `extra` names the stage that makes the package's files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from stacks.core.models import Line, Name, Spec, Strict
from stacks.sources.pins import IndexFile


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


class Header(Strict):
    """All of a recipe but its stage."""

    package: RecipePackage
    build: Build = Build()
    source: tuple[Debs | Sources | IndexFile, ...] = Field(default=(), strict=False)
    requirements: Requirements = Requirements()
    about: About
    # Where it was read from: the folder of all recipes.
    recipes: Path | None = Field(default=None, exclude=True)

    @property
    def src(self) -> Path:
        """The folder of the project's source files for the package."""
        assert self.recipes
        return self.recipes / self.package.name / "src"


@dataclass(frozen=True)
class BuildContext:
    """Everything that a stage needs to make one package's files.

    `sources` has the path of each source's file, by deb name or by file name. The stage writes
    below `root`, which becomes the prefix; `tmp` is deleted afterwards. `tools` is a prefix
    with the packages that build this one.
    """

    recipe: Header
    sources: Mapping[str, Path]
    root: Path
    tmp: Path
    tools: Path

    @property
    def files(self) -> list[Path]:
        """The recipe's files from the package index, in the recipe's order."""
        return [self.sources[s.file] for s in self.recipe.source if isinstance(s, IndexFile)]

    @property
    def debs(self) -> list[str]:
        """The names of the recipe's debs, in the recipe's order."""
        return [n for s in self.recipe.source if isinstance(s, Debs) for n in s.debs]

    @property
    def source_packages(self) -> list[str]:
        """The names of the recipe's source packages, in the recipe's order."""
        return [n for s in self.recipe.source if isinstance(s, Sources) for n in s.sources]

    @property
    def lib(self) -> Path:
        """The folder for libraries."""
        return self.root / "lib"

    @property
    def licences(self) -> Path:
        """The folder for the package's licences."""
        return self.root / "share/licenses" / self.recipe.package.name

    @property
    def unpacked(self) -> Path:
        """The folder of the unpacked debs from which files of the package are copied."""
        return self.tmp / "debs"
