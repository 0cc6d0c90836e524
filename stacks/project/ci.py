"""CI's jobs, one for each variant, written into .github/workflows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from stacks.channel.recipe import read_recipes
from stacks.core.disk import write_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.image.config import config_of
from stacks.locks import lock
from stacks.sources.pins import read_pins
from stacks.variants.variant import Variant

BEGIN = "# Rendered by `./invoke render` from envs/: do not edit these lines."
END = "# End of the rendered lines."
RUNNER = "ubuntu-24.04"
# Whether a job's image may be published, the least strict first. Sources are published with the
# channel, so packages that need theirs are no reason against an image.
PUBLISH = ("yes", "on request", "no")


def matrix(workspace: Workspace, variants: Sequence[Variant]) -> dict[str, list[dict[str, str]]]:
    """Return the matrix of CI's jobs, one for each variant.

    baseline: the flavour to time it with. image, tags (separated by spaces): its image's name.
    publish: whether the image may be: "yes", "on request" or "no", as its packages. No runner has
    the device cuda. Raises UsageError if a variant is not locked.
    """
    baselines = {v.framework.name: v.name for v in variants if v.baseline}
    republish = _republish(workspace)
    pins = read_pins(workspace.sources_lock)
    jobs = []
    for variant in variants:
        image = config_of(workspace, variant)
        packages = lock.read(workspace, variant, pins).packages
        terms = [republish.get(package.name, PUBLISH[0]) for package in packages]
        jobs.append(
            {
                "framework": variant.framework.name,
                "flavour": variant.name,
                "baseline": baselines.get(variant.framework.name, variant.name),
                "image": image.repository,
                "tags": " ".join(image.tags),
                "device": variant.device,
                "publish": max(terms, key=PUBLISH.index),
                "runner": RUNNER,
            }
        )
    return {"include": jobs}


def _republish(workspace: Workspace) -> dict[str, str]:
    """Return how the packages of the recipes may be republished, by name, the strictest of each."""
    strictest: dict[str, str] = {}
    for recipe in read_recipes(workspace.recipes).values():
        terms = (recipe.about.republish, strictest.get(recipe.package.name, PUBLISH[0]))
        known = [term for term in terms if term in PUBLISH]
        strictest[recipe.package.name] = max(known, key=PUBLISH.index)
    return strictest


def rendered(workspace: Workspace, variants: Sequence[Variant]) -> dict[Path, str]:
    """Return {path: text} of every workflow with rendered lines; the other lines do not change.

    Raises UsageError if only the comment at their end is missing.
    """
    jobs = matrix(workspace, variants)["include"]
    texts = {path: path.read_text() for path in sorted(workspace.workflows.glob("*.yml"))}
    return {path: _fill_in(path, text, jobs) for path, text in texts.items() if BEGIN in text}


def write(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Write the variants' jobs into the workflows."""
    for path, text in rendered(workspace, variants).items():
        write_atomically(path, text)


def check(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Raise StaleError with the workflows whose jobs are not the variants'."""
    texts = rendered(workspace, variants)
    stale = [path.name for path, text in texts.items() if path.read_text() != text]
    if stale:
        raise StaleError(
            f".github/workflows: {', '.join(stale)}: the jobs are not the variants'",
            fix="./invoke render, then commit .github/workflows",
        )


def _fill_in(path: Path, text: str, jobs: Sequence[dict[str, str]]) -> str:
    head, _, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise UsageError(
            f"{path}: the end of the rendered lines is missing",
            expected=f"a line {END!r} below {BEGIN!r}",
            fix="git checkout the file",
        )
    indent = head[head.rfind("\n") + 1 :]
    lines = [f"{indent}- {json.dumps(job)}\n" for job in jobs]
    return f"{head}{BEGIN}\n{''.join(lines)}{indent}{END}{tail}"
