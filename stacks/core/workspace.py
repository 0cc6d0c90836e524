"""The folders of a checkout and of the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import REPOSITORY, cache_root


@dataclass(frozen=True)
class Workspace:
    """The checkout (`root`), the cache of what can be fetched or built again, and their folders."""

    root: Path
    cache: Path

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
        """The results of `bench`, by machine."""
        return self.root / "results"

    @property
    def build(self) -> Path:
        """All output. It can be removed at any time."""
        return self.root / "build"

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
    def channel(self) -> Path:
        """The channel that `serve` serves."""
        return self.build / "channel"

    @property
    def cluster(self) -> Path:
        """The answers of jobs on other machines."""
        return self.build / "cluster"


def default_workspace() -> Workspace:
    """Return the workspace of this checkout and the user's cache."""
    return Workspace(REPOSITORY, cache_root())
