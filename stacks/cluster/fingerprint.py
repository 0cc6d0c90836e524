"""The files that decide a build or a figure; two machines must have the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stacks.core.console import plural
from stacks.core.disk import sha256_of
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.locks.lock import lock_folder
from stacks.variants.variant import Variant

# Locks, recipes, the builder, the verification, and the libraries that the builder uses.
DECIDING = ("envs", "recipes", "stacks", "verify", "requirements.lock", "requirements-cluster.lock")
# How many files an error names.
NAMED = 3


def digests(workspace: Workspace) -> dict[str, str]:
    """Return {path: SHA-256} of every deciding file of a checkout, relative to its root."""
    folders = [workspace.root / name for name in DECIDING]
    paths = sorted(path for folder in folders for path in (folder, *folder.rglob("*")))
    names = {path.relative_to(workspace.root): path for path in paths if path.is_file()}
    return {str(name): sha256_of(path) for name, path in names.items() if not _is_cache(name)}


def digests_of_stack(workspace: Workspace, variant: Variant) -> dict[str, str]:
    """Return {path: SHA-256} of a stack.yaml and its lock; of another variant nothing."""
    if not variant.file:
        return {}
    locks = sorted(lock_folder(workspace, variant).glob("*"))
    paths = [variant.file, *(path for path in locks if path.is_file())]
    return {str(path.absolute()): sha256_of(path) for path in paths}


def check_stack(expected: Mapping[str, str], actual: Mapping[str, str]) -> None:
    """Raise StaleError if a worker's stack.yaml or its lock is not that of the order."""
    paths = expected.keys() | actual.keys()
    different = sorted(path for path in paths if expected.get(path) != actual.get(path))
    if different:
        raise StaleError(
            "this machine has another stack.yaml, or another lock of it",
            found=", ".join(different[:NAMED]),
            fix="share its folder, or copy it there",
        )


def _is_cache(name: Path) -> bool:
    """Say whether a file belongs to a cache of Python or of a linter."""
    return any(part == "__pycache__" or part.startswith(".") for part in name.parts)


def check(
    expected: Mapping[str, str],
    expected_commit: str | None,
    actual: Mapping[str, str],
    actual_commit: str | None,
) -> None:
    """Raise StaleError if the files of this checkout are not those of the order."""
    names = sorted(expected.keys() | actual.keys())
    different = [name for name in names if expected.get(name) != actual.get(name)]
    if not different:
        return
    files = f"{plural(len(different), 'different file')}: {', '.join(different[:NAMED])}"
    files += ", ..." if len(different) > NAMED else ""
    if expected_commit == actual_commit:
        found = f"the same commit with {files}"
        fix = "commit the changes, and check out that commit on both machines"
    else:
        found = f"commit {actual_commit or 'unknown'} with {files}"
        fix = (
            f"on that machine: git checkout {expected_commit}"
            if expected_commit
            else "copy this checkout to that machine"
        )
    raise StaleError(
        "the worker's checkout differs from this one",
        expected=f"commit {expected_commit or 'unknown'} without changes",
        found=found,
        fix=fix,
    )
