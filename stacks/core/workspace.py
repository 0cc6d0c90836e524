"""Where everything lies: the checkout and the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import REPOSITORY, cache_root


@dataclass(frozen=True)
class Workspace:
    """The two folders that the work happens in, and what lies below them.

    `root` is the checkout: what people edit, and build/. `cache` has what can be fetched or built
    again.
    """

    root: Path
    cache: Path

    @property
    def envs(self) -> Path:
        """What a person edits: variants, frameworks, BLAS libraries."""
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
    def docker(self) -> Path:
        """The template of the Dockerfiles, and what is rendered from it."""
        return self.root / "docker"

    @property
    def workflows(self) -> Path:
        """The workflows of CI."""
        return self.root / ".github" / "workflows"

    @property
    def results(self) -> Path:
        """What `bench` has measured, by machine."""
        return self.root / "results"

    @property
    def build(self) -> Path:
        """What is made here: all of it can be removed."""
        return self.root / "build"

    @property
    def environments(self) -> Path:
        """The environments, by framework and flavour."""
        return self.build / "prefixes"

    @property
    def reports(self) -> Path:
        """The last report of each environment, and those of workloads and images."""
        return self.build / "reports"

    @property
    def images(self) -> Path:
        """The content of images, by framework and flavour."""
        return self.build / "images"

    @property
    def channel(self) -> Path:
        """The channel's folder that `serve` serves."""
        return self.build / "channel"

    @property
    def cluster(self) -> Path:
        """What jobs on other machines have sent."""
        return self.build / "cluster"


def default_workspace() -> Workspace:
    """Return the checkout that this code lies in, with the user's cache."""
    return Workspace(REPOSITORY, cache_root())
