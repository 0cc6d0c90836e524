"""Tasks for images and for rendered files."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.options import FRAMEWORK, VARIANT
from stacks.tasks.task import task


@task(
    "render", "render --check", help={"check": "write nothing; fail if a committed file is stale"}
)
def render(context: Context, check: bool = False) -> None:
    """Render the Dockerfiles (docker/) and CI's jobs (.github/)."""
    workspace = default_workspace()
    from stacks.image import dockerfile
    from stacks.project import ci
    from stacks.variants.load import all_variants

    for module in (dockerfile, ci):
        if check:
            module.check(workspace, all_variants(workspace))
        else:
            module.write(workspace, all_variants(workspace))


@task("base", protects=("cache",))
def base(context: Context) -> None:
    """Make the base of the images and import it into the engine."""
    from stacks.image import docker, engine

    print(docker.prepare_base(default_workspace(), engine.find()))


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


@task("matrix")
def matrix(context: Context) -> None:
    """Print the matrix of CI's jobs, as JSON."""
    workspace = default_workspace()
    import json

    from stacks.project.ci import matrix
    from stacks.variants.load import all_variants

    print(json.dumps(matrix(workspace, all_variants(workspace)), indent=2))
