"""The locks of this checkout, which published figures may be older than."""

from __future__ import annotations

from dataclasses import dataclass

from stacks.bench.candidates import packages_of
from stacks.bench.result import MeasuredPackage
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants.load import all_variants


@dataclass(frozen=True)
class CurrentLock:
    """The SHA-256 of a lock, as results have it, and the bytes of its packages to download.

    packages: their names and SHA-256.
    """

    sha256: str
    size: int
    packages: frozenset[tuple[str, str]] = frozenset()


def current_locks(workspace: Workspace) -> dict[str, CurrentLock]:
    """Return the lock of each variant in envs/, by FRAMEWORK/FLAVOUR."""
    locks = {each.id: lock.read(workspace, each) for each in all_variants(workspace)}
    return {
        name: CurrentLock(
            one.sha256, _size(one), frozenset((p.name, p.sha256) for p in packages_of(one))
        )
        for name, one in locks.items()
    }


def locked_packages(workspace: Workspace) -> dict[tuple[str, str], set[MeasuredPackage]]:
    """Return the packages of the lock of each variant, by FRAMEWORK/FLAVOUR and SHA-256."""
    locks = [(each.id, lock.read(workspace, each)) for each in all_variants(workspace)]
    return {(name, one.sha256): {*packages_of(one)} for name, one in locks}


def _size(locked: Lock) -> int:
    return sum(locked.sizes.values()) + sum(each.size for each in locked.requirements)
