"""Recipes (recipes/*/recipe.yaml): their pins, the project's files in src/, what may be published.

Facts about licences are in `about`; docs/reference/licences.md explains them. This is not legal
advice.
"""

from collections.abc import Container
from fnmatch import fnmatch
from pathlib import Path

from stacks.channel.build_context import Header, Sources
from stacks.channel.staging import Extra
from stacks.core import yamlfile
from stacks.sources.pins import DebPin, IndexFile, IndexPin, Pins


class Recipe(Header):
    """One package of the channel."""

    extra: Extra

    @property
    def subdir(self) -> str:
        """The package's folder in the channel."""
        return "noarch" if self.build.noarch else "linux-64"

    def project_files(self) -> list[Path]:
        """Return the project's files in the recipe's folder src/ of which the package is made."""
        return self.extra.project_files(self)

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

    def may_republish(self, include: Container[str] = ()) -> bool:
        """Return whether the package may be published again.

        include: names of packages that the user publishes on their own responsibility. It counts
        for those that are published `on request`, and for no other.
        """
        if self.about.republish == "on request":
            return self.package.name in include
        return self.about.republish != "no"

    def published_sources(self, pins: Pins) -> tuple[DebPin, ...]:
        """Return the pins of the source files that are published with the package, sorted.

        Raises UsageError where a source package is not in sources.lock.
        """
        names = ((each.suite, name) for each in self.about.sources for name in each.sources)
        return tuple(sorted(pin for suite, name in names for pin in pins.source(suite, name)))


def read_recipes(folder: Path) -> dict[str, Recipe]:
    """Return every recipe by the name of its folder, sorted; UsageError for an invalid one."""
    names = sorted(path.parent.name for path in folder.glob("*/recipe.yaml"))
    return {name: read_recipe(folder, name) for name in names}


def read_recipe(folder: Path, name: str) -> Recipe:
    """Return one recipe by the name of its folder; UsageError where it is not valid."""
    recipe = yamlfile.load(folder / name / "recipe.yaml", Recipe)
    return recipe.model_copy(update={"recipes": folder})
