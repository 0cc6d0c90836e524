"""What is rendered, and the base and bytes of images."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.options import FRAMEWORK, VARIANT
from stacks.tasks.task import task


@task(help={"check": "change nothing; fail where a committed file is stale"})
def render(context: Context, check: bool = False) -> None:
    """Write what follows from envs/: Dockerfiles (docker/), the jobs of CI (.github/)."""
    workspace = default_workspace()
    from stacks.image import dockerfile
    from stacks.project import ci
    from stacks.variants.variant import all_variants

    for made in (dockerfile, ci):
        if check:
            made.check(all_variants(workspace))
        else:
            made.write(all_variants(workspace))


@task(uses=("cache",))
def base(context: Context) -> None:
    """Make the base of the images and import it into the engine."""
    workspace = default_workspace()
    from stacks.image import docker, engine

    print(docker.prepare_base(workspace, engine.find()))


@task(help={"variant": VARIANT, "framework": FRAMEWORK}, uses=("build", "cache"))
def reproduce(context: Context, variant: str, framework: str = "") -> None:
    """Make an image twice, differently, and compare them."""
    workspace = default_workspace()
    from stacks.image import reproduce
    from stacks.variants.variant import load_variant

    print(reproduce.reproduce(workspace, load_variant(workspace, variant, framework or None)))


@task()
def matrix(context: Context) -> None:
    """Print the variants as the matrix of CI's jobs, in JSON."""
    workspace = default_workspace()
    import json

    from stacks.project.ci import matrix
    from stacks.variants.variant import all_variants

    print(json.dumps(matrix(workspace, all_variants(workspace)), indent=2))
