"""The folders of a checkout or of the installed command, and of the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import INSTALLED, REPOSITORY
from stacks.core.paths import cache_root, home_root


@dataclass(frozen=True)
class Workspace:
    """What the project consists of, what it makes, and the cache of what can be made again.

    root: the checkout, or the package of the wheel, in which nothing is written. home: the folder
    for environments, reports and results; None: the checkout.
    """

    root: Path
    cache: Path
    home: Path | None = None

    @property
    def envs(self) -> Path:
        """Variants, frameworks, BLAS libraries: the files that people edit."""
        return self.root / "envs"

    @property
    def locks(self) -> Path:
        """The locks, by framework and flavour."""
        return self.envs / "locks"

    @property
    def recipes(self) -> Path:
        """The recipes of the channel's packages."""
        return self.root / "recipes"

    @property
    def sources_lock(self) -> Path:
        """The pins of the recipes' sources."""
        return self.recipes / "sources.lock"

    @property
    def suite(self) -> Path:
        """The verification suite."""
        return self.root / "verify"

    @property
    def docker(self) -> Path:
        """The Dockerfiles and their template."""
        return self.root / "docker"

    @property
    def workflows(self) -> Path:
        """The workflows of CI."""
        return self.root / ".github" / "workflows"

    @property
    def results(self) -> Path:
        """The results of `bench` here, by machine."""
        return (self.home or self.root) / "results"

    @property
    def published_results(self) -> Path:
        """The results that the project comes with, by machine."""
        return self.root / "results"

    @property
    def build(self) -> Path:
        """All output. It can be removed at any time."""
        return (self.home or self.root) / "build"

    @property
    def environments(self) -> Path:
        """The environments, by framework and flavour."""
        return self.build / "prefixes"

    @property
    def reports(self) -> Path:
        """The last report of each environment, workload and image."""
        return self.build / "reports"

    @property
    def logs(self) -> Path:
        """The logs of the last tasks that failed."""
        return self.build / "logs"

    @property
    def images(self) -> Path:
        """The content of images, by framework and flavour."""
        return self.build / "images"

    @property
    def cluster(self) -> Path:
        """The answers of jobs on other machines."""
        return self.build / "cluster"

    def shown(self, path: Path) -> str:
        """Return a path as people read it: relative to the checkout if it is inside."""
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path)


def default_workspace() -> Workspace:
    """Return the workspace of this checkout, or of the installed command, and the user's cache."""
    return Workspace(REPOSITORY, cache_root(), home_root() if INSTALLED else None)
