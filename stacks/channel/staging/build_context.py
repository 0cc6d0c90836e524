"""What a stage gets: the recipe, its sources, and where to put the package's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.recipe import Debs, IndexFile, Recipe


@dataclass(frozen=True)
class Work:
    """One package in the making.

    `sources` has the path of each source's file, by deb name or by file name. The stage writes
    below `root`, which becomes the prefix; `scratch` is thrown away. `tools` is a prefix with the
    packages that the recipe is built with.
    """

    recipe: Recipe
    sources: Mapping[str, Path]
    root: Path
    scratch: Path
    tools: Path

    @property
    def files(self) -> list[Path]:
        """The recipe's files from the package index, in the recipe's order."""
        return [self.sources[s.file] for s in self.recipe.source if isinstance(s, IndexFile)]

    @property
    def debs(self) -> list[str]:
        """The names of the recipe's debs, in the recipe's order."""
        return [n for s in self.recipe.source if isinstance(s, Debs) for n in s.debs]
