"""The variants as CI takes them: a job for each, written into .github/workflows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from stacks.core.disk import write_whole
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.image.config import config_of
from stacks.variants.variant import Variant

BEGIN = "# Made by `./invoke render` from envs/; do not edit up to the next comment."
END = "# The end of what is made."
RUNNER = "ubuntu-24.04"


def matrix(workspace: Workspace, variants: Sequence[Variant]) -> dict[str, list[dict[str, str]]]:
    """Return the jobs' matrix: for each variant what a job must know of it.

    `baseline` is the flavour that it is timed beside; `image` and `tags` (separated by blanks) are
    what its image is called. No runner has the `device` cuda.
    """
    baselines = {v.framework.name: v.name for v in variants if v.baseline}
    jobs = []
    for variant in variants:
        image = config_of(workspace, variant)
        jobs.append(
            {
                "framework": variant.framework.name,
                "flavour": variant.name,
                "baseline": baselines.get(variant.framework.name, variant.name),
                "image": image.repository,
                "tags": " ".join(image.tags),
                "device": variant.device,
                "runner": RUNNER,
            }
        )
    return {"include": jobs}


def rendered(
    workspace: Workspace,
    variants: Sequence[Variant],
) -> dict[Path, str]:
    """Return {path: text} of every workflow with a matrix, its jobs those of the variants.

    All else in a workflow stays as a person wrote it. Raises UsageError where the beginning of
    the made lines is there, but not their end.
    """
    jobs = matrix(workspace, variants)["include"]
    texts = {path: path.read_text() for path in sorted(workspace.workflows.glob("*.yml"))}
    return {path: _filled(path, text, jobs) for path, text in texts.items() if BEGIN in text}


def write(
    workspace: Workspace,
    variants: Sequence[Variant],
) -> None:
    """Write the variants' jobs into the workflows."""
    for path, text in rendered(workspace, variants).items():
        write_whole(path, text)


def check(
    workspace: Workspace,
    variants: Sequence[Variant],
) -> None:
    """Raise StaleError naming the workflows whose jobs are not the variants'."""
    found = rendered(workspace, variants)
    stale = [path.name for path, text in found.items() if path.read_text() != text]
    if stale:
        raise StaleError(
            f".github/workflows: {', '.join(stale)}: not a job for each variant",
            fix="./invoke render, then commit .github/workflows",
        )


def _filled(path: Path, text: str, jobs: Sequence[dict[str, str]]) -> str:
    head, _, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise UsageError(
            f"{path}: the end of the jobs is missing",
            expected=f"a line {END!r} below the one that says where they are made from",
            fix="`git checkout` the file",
        )
    indent = head[head.rfind("\n") + 1 :]
    lines = [f"{indent}- {json.dumps(job)}\n" for job in jobs]
    return f"{head}{BEGIN}\n{''.join(lines)}{indent}{END}{tail}"
