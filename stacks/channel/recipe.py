"""recipes/*/recipe.yaml: what a package of the channel is made of.

The keys follow the conda recipe format, with two differences: a source is a pin in
recipes/sources.lock instead of a URL, and `extra` says how the sources become the package's files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from stacks.channel.stages import BLIS, Compiled, Extra, PoCL, PythonModules, ThinFront
from stacks.core import yamlfile
from stacks.core.disk import REPOSITORY
from stacks.core.models import Strict
from stacks.sources.pins import SOURCE_PREFIX, DebPin, IndexPin, Pins

RECIPES = REPOSITORY / "recipes"
SOURCES_LOCK = RECIPES / "sources.lock"


class Package(Strict):
    """The name and version of the conda package."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    version: str = Field(pattern=r"^[0-9][0-9A-Za-z.]*$")


class Build(Strict):
    """The build number, and whether the package serves every platform."""

    number: int = Field(default=0, ge=0)
    noarch: Literal["python"] | None = None
    label: str = Field(default="", pattern=r"^[a-z0-9]*$", description="begins the build string")
    variant: str = Field(
        default="",
        pattern=r"^[a-z0-9]*$",
        description="ends the build string, so that name=*=*variant asks for it",
    )


class Debs(Strict):
    """Binary packages of one suite of Debian's archive."""

    suite: str
    debs: tuple[str, ...] = Field(strict=False, min_length=1)


class Archives(Strict):
    """What Debian's source packages were made from: their makers' own source archives."""

    suite: str
    archives: tuple[str, ...] = Field(strict=False, min_length=1)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of their pins."""
        return tuple(SOURCE_PREFIX + name for name in self.archives)


class IndexFile(Strict):
    """One file of the Python package index, by its name."""

    project: str
    version: str
    file: str


class Requirements(Strict):
    """Conda match specs."""

    build: tuple[str, ...] = Field(
        default=(), strict=False, description="packages of the channel, by name, that make this one"
    )
    run: tuple[str, ...] = Field(default=(), strict=False)
    run_constraints: tuple[str, ...] = Field(default=(), strict=False)


class About(Strict):
    """What people and tools want to know about the software."""

    homepage: str | None = None
    license: str
    summary: str


class Recipe(Strict):
    """One package of the channel."""

    package: Package
    build: Build = Build()
    source: tuple[Debs | Archives | IndexFile, ...] = Field(default=(), strict=False)
    requirements: Requirements = Requirements()
    about: About
    extra: Extra

    @property
    def links_out(self) -> frozenset[str]:
        """The links in lib/ that lead to a file of a package that this one requires."""
        links: dict[str, str] = getattr(self.extra, "links", {})
        return frozenset(links)

    @property
    def subdir(self) -> str:
        """The channel folder that the package belongs to."""
        return "noarch" if self.build.noarch else "linux-64"

    def own_sources(self) -> tuple[Path, ...]:
        """Return the source files of the project's own that it is made of, sorted.

        Bytecode beside Python files is not one of them.
        """
        if not isinstance(self.extra, BLIS | Compiled | PoCL | PythonModules | ThinFront):
            return ()
        folder = RECIPES / self.package.name / "src"
        files = (path for path in folder.rglob("*") if path.is_file())
        return tuple(sorted(path for path in files if path.suffix not in (".pyc", ".pyo")))

    def pins(self, pins: Pins) -> tuple[DebPin | IndexPin, ...]:
        """Return the recipe's sources as pinned; UsageError where one is not in sources.lock."""
        found: list[DebPin | IndexPin] = []
        for source in self.source:
            if isinstance(source, Debs):
                found += [pins.deb(source.suite, name) for name in source.debs]
            elif isinstance(source, Archives):
                found += [pins.deb(source.suite, name) for name in source.names]
            else:
                found.append(pins.file(source.file))
        return tuple(found)


def read_recipes(folder: Path = RECIPES) -> dict[str, Recipe]:
    """Return every recipe by the name of its folder, sorted; UsageError where one is wrong."""
    return {
        path.parent.name: yamlfile.load(path, Recipe)
        for path in sorted(folder.glob("*/recipe.yaml"))
    }
