"""The jobs of CI, one for each variant."""

from __future__ import annotations

from collections.abc import Sequence

from stacks.channel.recipe import read_recipes
from stacks.core.workspace import Workspace
from stacks.image.config import config_of
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
