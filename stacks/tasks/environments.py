"""Environments: made, verified, used, removed."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.options import CHANNEL, CLUSTER, FRAMEWORK, FULL, JSON, VARIANT, path_of
from stacks.tasks.task import remainder, task


@task(
    help={
        "variant": VARIANT,
        "framework": FRAMEWORK,
        "channel": CHANNEL,
        "to": "prefix: a folder below build/; docker: an image in the engine; oci: one in a file",
        "file": "with --to oci, where it goes: an OCI layout, which docker and podman load as well",
        "base": "what an image lies on instead of the project's own base: an image by its name, "
        "or with --to oci a tar archive of a root",
        "full": FULL,
        "json": JSON,
        "cluster": CLUSTER + "; without --variant all of them",
    },
    uses=("build", "cache"),
)
def build(
    context: Context,
    variant: str = "",
    framework: str = "",
    channel: str = "",
    to: str = "prefix",
    file: str = "",
    base: str = "",
    full: bool = False,
    json: str = "",
    cluster: str = "",
) -> None:
    """Make a variant's environment, verify it, print the table."""
    workspace = default_workspace()
    from stacks.core.errors import UsageError
    from stacks.core.suggestions import unknown
    from stacks.environments import build as pipeline
    from stacks.environments import verify as verification
    from stacks.variants.variant import load_variant, select

    if cluster:
        if to != "prefix" or file or base or json:
            raise UsageError(
                "--cluster makes environments: its reports are kept in build/cluster",
                fix="leave out --to, --file, --base and --json",
            )
        from stacks.cluster import programs

        programs.prepare()
        from stacks.cluster import command

        command.build(
            workspace, cluster, select(workspace, _on(channel, variant), framework), full=full
        )
        return
    if not variant:
        raise UsageError(
            "no variant to build", fix="--variant NAME: `./invoke list` shows all that there are"
        )
    chosen = load_variant(workspace, _on(channel, variant), framework or None)
    if file and to != "oci":
        raise UsageError("--file is for images in a file", fix="add --to oci")
    if to == "docker":
        from stacks.image import docker

        docker.build(workspace, chosen, base_name=base, full=full, json_file=path_of(json))
    elif to == "oci":
        from stacks.image import oci

        print(
            oci.write(
                workspace, chosen, oci.file_for(workspace, chosen, path_of(file)), path_of(base)
            )
        )
    elif to != "prefix":
        raise unknown("place to build to", to, ("prefix", "docker", "oci"))
    elif base:
        raise UsageError("--base is for images", fix="add --to docker or --to oci")
    else:
        prefix = pipeline.make_environment(workspace, chosen)
        verification.verify_variant(workspace, chosen, prefix, full=full, json_file=path_of(json))


@task(
    help={
        "variant": VARIANT,
        "framework": FRAMEWORK,
        "python": "diagnose this interpreter instead: any that has Theano or a descendant",
        "full": FULL,
        "json": JSON,
        "limit": "seconds after which a step counts as hanging and is ended (default: 1200)",
    }
)
def verify(
    context: Context,
    variant: str = "",
    framework: str = "",
    python: str = "",
    full: bool = False,
    json: str = "",
    limit: int = 0,
) -> None:
    """Verify a built variant, or diagnose any Python (--python)."""
    workspace = default_workspace()
    from stacks.core.errors import UsageError
    from stacks.environments import build as pipeline
    from stacks.environments import verify as verification

    if bool(variant) == bool(python):
        raise UsageError(
            "nothing to verify" if not variant else "two things to verify",
            expected="either --variant NAME or --python PATH",
        )
    if python:
        verification.verify_python(python, full=full, json_file=path_of(json), limit=limit)
    else:
        chosen, prefix = pipeline.ready_environment(workspace, variant, framework or None)
        verification.verify_variant(
            workspace, chosen, prefix, full=full, json_file=path_of(json), limit=limit
        )


@task(
    help={
        "framework": FRAMEWORK,
        "rounds": "how often each variant is measured, turn by turn (default: 7)",
    }
)
def recommend(context: Context, framework: str = "", rounds: int = 7) -> None:
    """Measure the built variants and name the fastest that verifies."""
    workspace = default_workspace()
    from stacks.bench import recommend
    from stacks.locks import lock
    from stacks.variants.variant import on_framework

    recommend.recommend(
        workspace,
        lock.with_other_channels(workspace, on_framework(workspace, framework or None)),
        rounds,
    )


@task(help={"variant": VARIANT, "framework": FRAMEWORK})
def run(context: Context, variant: str, framework: str = "") -> None:
    """Run a program in an environment: run --variant V -- CMD."""
    workspace = default_workspace()
    from stacks.environments import build as pipeline
    from stacks.environments import run as run_module

    chosen, prefix = pipeline.ready_environment(workspace, variant, framework or None)
    run_module.run(chosen, prefix, remainder())


@task(help={"variant": VARIANT, "framework": FRAMEWORK})
def shell(context: Context, variant: str, framework: str = "") -> None:
    """Open a shell in an environment."""
    workspace = default_workspace()
    from stacks.environments import build as pipeline
    from stacks.environments import run as run_module

    chosen, prefix = pipeline.ready_environment(workspace, variant, framework or None)
    run_module.shell(chosen, prefix)


@task(name="list")
def list_(context: Context) -> None:
    """Show every variant: locked, built, verified, how fast."""
    workspace = default_workspace()
    from stacks.environments import listing
    from stacks.locks import lock
    from stacks.variants.variant import all_variants

    listing.show(workspace, lock.with_other_channels(workspace, all_variants(workspace)))


@task(
    help={
        "variant": "only this one's environments and reports (default: all of build/)",
        "cache": "also what was fetched and built (THEANO_STACKS_CACHE)",
    }
)
def clean(context: Context, variant: str = "", cache: bool = False) -> None:
    """Remove environments and reports; --cache: all else too."""
    workspace = default_workspace()
    from stacks.environments import clean as cleaning
    from stacks.variants.variant import select

    cleaning.clean(workspace, select(workspace, variant) if variant else None, cache=cache)


def _on(channel: str, variant: str) -> str:
    """Return the name of a variant with the packages of a channel; its own where none is given."""
    if not channel:
        return variant
    from stacks.sources.condarc import place_of

    return f"{variant}@{place_of(channel).label}"
