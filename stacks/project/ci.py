"""The jobs of CI, one for each variant; the variants that a change concerns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from stacks.channel.recipe import read_recipes
from stacks.core.errors import UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.image.metadata import config_of
from stacks.locks import lock
from stacks.variants.variant import Variant

RUNNER = "ubuntu-24.04"
# Whether a job's image may be published, the least strict first. Sources are published with the
# channel, so packages that need theirs are no reason against an image.
PUBLISH = ("yes", "on request", "no")


def matrix(
    workspace: Workspace, every: Sequence[Variant], chosen: Sequence[Variant]
) -> dict[str, list[dict[str, str]]]:
    """Return the matrix of CI's jobs, one for each of the chosen among all variants.

    baseline: the flavour to time it with; baseline_image: the full name of that one's image. image,
    tags (separated by spaces): its own image's name. publish: whether the image may be: "yes", "on
    request" or "no", as its packages. No runner has the device cuda. Raises UsageError if a variant
    is not locked.
    """
    baselines = {v.framework.name: v for v in every if v.baseline}
    republish = _republish(workspace)
    jobs = []
    for variant in chosen:
        image = config_of(workspace, variant)
        baseline = baselines.get(variant.framework.name, variant)
        packages = lock.read(workspace, variant).packages
        terms = [republish.get((each.name, each.version), PUBLISH[0]) for each in packages]
        jobs.append(
            {
                "framework": variant.framework.name,
                "flavour": variant.name,
                "baseline": baseline.name,
                "baseline_image": config_of(workspace, baseline).names[0],
                "image": image.repository,
                "tags": " ".join(image.tags),
                "device": variant.device,
                "publish": max(terms, key=PUBLISH.index),
                "runner": RUNNER,
            }
        )
    return {"include": jobs}


def _republish(workspace: Workspace) -> dict[tuple[str, str], str]:
    """Return how the recipes' packages may be republished, by name and version: the strictest."""
    strictest: dict[tuple[str, str], str] = {}
    for recipe in read_recipes(workspace.recipes).values():
        key = recipe.package.name, recipe.package.version
        terms = (recipe.about.republish, strictest.get(key, PUBLISH[0]))
        strictest[key] = max((term for term in terms if term in PUBLISH), key=PUBLISH.index)
    return strictest


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
