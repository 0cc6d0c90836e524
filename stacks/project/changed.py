"""The variants that a change of the project's files concerns, for CI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from stacks.core.errors import UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.variants.variant import Variant

# What no environment and no image depends on.
OTHERS = ("docs", "examples", "measurements", "results", "site", "tests")
# The flavour that stands for all of a framework where code changed.
SAMPLE = "openblas"


def changed(workspace: Workspace, variants: Sequence[Variant], since: str) -> list[Variant]:
    """Return those of the variants that the commits and changes since another commit concern.

    since: a commit of the checkout. What concerns a variant alone, as its lock, selects that
    variant; what concerns all, as the code, selects one flavour of each framework: the others
    differ in what their locks name. Raises UsageError if there is no such commit.
    """
    concerned = {
        variant.id
        for path in _paths(workspace.root, since)
        for variant in _concerned(Path(path), variants)
    }
    return [variant for variant in variants if variant.id in concerned]


def _paths(root: Path, since: str) -> list[str]:
    """Return the paths that differ from a commit, relative to the checkout."""
    git = ("git", "-C", root)
    try:
        # What begins with a dash would be an option.
        commit = call([*git, "rev-parse", "--verify", "--end-of-options", f"{since}^{{commit}}"])
        names = call([*git, "diff", "--name-only", "--no-renames", "-z", commit.strip(), "--"])
    except CommandError as error:
        raise UsageError(
            f"--changed {since}: not a commit of this checkout",
            fix="name another; in a shallow clone: `git fetch --deepen 1` first",
        ) from error
    return [name for name in names.split("\0") if name]


def _concerned(path: Path, variants: Sequence[Variant]) -> Iterator[Variant]:
    """Yield the variants that a file of the project concerns."""
    match path.parts:
        case (name, *_) if name in OTHERS or (len(path.parts) == 1 and path.suffix == ".md"):
            return
        case ("envs", "locks", framework, flavour, *_):
            yield from (v for v in variants if (v.framework.name, v.name) == (framework, flavour))
        case ("envs", "locks", _):
            return
        case ("envs", "frameworks", _):
            yield from (v for v in variants if v.framework.name == path.stem)
        case ("envs", "variants", _):
            yield from (v for v in variants if v.name == path.stem)
        case ("envs", "blas", _):
            yield from (v for v in variants if v.blas and v.blas.name == path.stem)
        case _:
            yield from (v for v in variants if v.name == SAMPLE)
