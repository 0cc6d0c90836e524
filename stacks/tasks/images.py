"""Tasks for images."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.options import FRAMEWORK, VARIANT
from stacks.tasks.task import task


@task("base", protects=("cache",))
def base(context: Context) -> None:
    """Make the base of the images and import it into the engine."""
    from contextlib import closing

    from stacks.image import docker, engine

    with closing(engine.find()) as found:
        print(docker.import_base(default_workspace(), found))


@task(
    "reproduce --variant mkl",
    "reproduce --variant blis --framework theano-0.8.2",
    help={"variant": VARIANT, "framework": FRAMEWORK},
    protects=("build", "cache"),
)
def reproduce(context: Context, variant: str, framework: str = "") -> None:
    """Build an image twice in different ways and compare both."""
    workspace = default_workspace()
    from stacks.image import reproduce
    from stacks.variants.load import load_variant

    print(reproduce.reproduce(workspace, load_variant(workspace, variant, framework or None)))


@task(
    "matrix",
    "matrix --changed main",
    help={
        "changed": "a commit: only variants that the changes since it concern; where code changed, "
        "one of each framework"
    },
    in_checkout=True,
)
def matrix(context: Context, changed: str = "") -> None:
    """Print the matrix of CI's jobs, as JSON in one line."""
    workspace = default_workspace()
    import json

    from stacks.project.changed import changed as concerned
    from stacks.project.ci import matrix
    from stacks.variants.load import all_variants

    every = all_variants(workspace)
    chosen = concerned(workspace, every, changed) if changed else every
    print(json.dumps(matrix(workspace, every, chosen)))
