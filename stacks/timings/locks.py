"""The locks of this checkout, which published figures may be older than."""

from __future__ import annotations

from dataclasses import dataclass

from stacks.bench.candidates import packages_of
from stacks.bench.result import MeasuredPackage
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.variants.load import all_variants


@dataclass(frozen=True)
class CurrentLock:
    """The SHA-256 of a lock, as results have it, its packages, and the bytes to download."""

    sha256: str
    size: int
    packages: frozenset[MeasuredPackage] = frozenset()

    @property
    def digests(self) -> frozenset[tuple[str, str]]:
        """The names and SHA-256 of the packages."""
        return frozenset((one.name, one.sha256) for one in self.packages)


def current_locks(workspace: Workspace) -> dict[str, CurrentLock]:
    """Return the lock of each variant in envs/, by FRAMEWORK/FLAVOUR.

    Empty for a folder that has only results.
    """
    if not workspace.envs.is_dir():
        return {}
    locks = {each.id: lock.read(workspace, each) for each in all_variants(workspace)}
    return {
        name: CurrentLock(
            one.sha256,
            sum(one.sizes.values()) + sum(each.size for each in one.requirements),
            frozenset(packages_of(one)),
        )
        for name, one in locks.items()
    }
