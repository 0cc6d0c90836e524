"""What decides a build or a figure, to the byte: two machines must agree on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stacks.core.disk import sha256_of
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace

# Locks, recipes, the builder, the suite, and the libraries that the builder uses.
DECIDING = ("envs", "recipes", "stacks", "verify", "requirements.lock", "requirements-cluster.lock")
# Files of these are named; more would not be read.
NAMED = 3


def files(
    workspace: Workspace,
) -> dict[str, str]:
    """Return the SHA-256 of every file of a checkout that decides, by its path there."""
    found = [
        path
        for name in DECIDING
        for path in (
            [workspace.root / name]
            if (workspace.root / name).is_file()
            else (workspace.root / name).rglob("*")
        )
    ]
    named = {path.relative_to(workspace.root): path for path in sorted(found) if path.is_file()}
    return {str(name): sha256_of(path) for name, path in named.items() if not _made(name)}


def _made(name: Path) -> bool:
    """Say whether a file is what tools leave: compiled modules, the caches of linters."""
    return any(part == "__pycache__" or part.startswith(".") for part in name.parts)


def check(
    wanted: Mapping[str, str], commit: str | None, have: Mapping[str, str], own: str | None
) -> None:
    """Raise StaleError where the files of this checkout, `have`, are not the wanted ones.

    `commit` is that of the checkout which asks, `own` that of this one.
    """
    names = sorted(wanted.keys() | have.keys())
    other = [name for name in names if wanted.get(name) != have.get(name)]
    if not other:
        return
    named = ", ".join(other[:NAMED]) + (", ..." if len(other) > NAMED else "")
    many = f"{len(other)} file{'s' if len(other) > 1 else ''}"
    if commit == own:
        found = f"the same commit, but {many} with other bytes: {named}"
        fix = "commit what was changed, and check that commit out here and there"
    else:
        found = f"commit {own or 'unknown'}; {many} with other bytes: {named}"
        fix = f"on that machine: git checkout {commit}" if commit else "copy this checkout there"
    raise StaleError(
        "this worker's checkout is another one than that of who asks",
        expected=f"commit {commit or 'unknown'}, and its very files",
        found=found,
        fix=fix,
    )
