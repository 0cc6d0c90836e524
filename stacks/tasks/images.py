"""What is rendered, and the base and bytes of images."""

from __future__ import annotations

from invoke.context import Context

from stacks.tasks.options import FRAMEWORK, VARIANT
from stacks.tasks.task import task


@task(help={"check": "change nothing; fail where a committed file is stale"})
def render(context: Context, check: bool = False) -> None:
    """Write what follows from envs/: Dockerfiles (docker/), the jobs of CI (.github/)."""
    from stacks.image import dockerfile
    from stacks.project import ci
    from stacks.variants.variant import all_variants

    for made in (dockerfile, ci):
        if check:
            made.check(all_variants())
        else:
            made.write(all_variants())


@task(uses=("cache",))
def base(context: Context) -> None:
    """Make the base of the images and import it into the engine."""
    from stacks.image import docker, engine

    print(docker.prepare_base(engine.find()))


@task(help={"variant": VARIANT, "framework": FRAMEWORK}, uses=("build", "cache"))
def reproduce(context: Context, variant: str, framework: str = "") -> None:
    """Make an image twice, differently, and compare them."""
    from stacks.image import reproduce
    from stacks.variants.variant import load_variant

    print(reproduce.reproduce(load_variant(variant, framework or None)))


@task()
def matrix(context: Context) -> None:
    """Print the variants as the matrix of CI's jobs, in JSON."""
    import json

    from stacks.project.ci import matrix
    from stacks.variants.variant import all_variants

    print(json.dumps(matrix(all_variants()), indent=2))
