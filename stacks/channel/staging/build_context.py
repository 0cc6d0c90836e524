"""The input of a stage: the recipe, its sources, and the folders to write to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.recipe import Debs, IndexFile, Recipe, Sources


@dataclass(frozen=True)
class BuildContext:
    """Everything that a stage needs to make one package's files.

    `sources` has the path of each source's file, by deb name or by file name. The stage writes
    below `root`, which becomes the prefix; `scratch` is deleted afterwards. `tools` is a prefix
    with the packages that build this one.
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

    @property
    def source_packages(self) -> list[str]:
        """The names of the recipe's source packages, in the recipe's order."""
        return [n for s in self.recipe.source if isinstance(s, Sources) for n in s.sources]

    @property
    def licences(self) -> Path:
        """The folder for the package's licences."""
        return self.root / "share/licenses" / self.recipe.package.name
