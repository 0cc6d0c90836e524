"""Tasks that build, verify, use and remove environments."""

import sys
from pathlib import Path

from stacks.core.console import as_typed, display_path, next_step
from stacks.core.errors import UsageError
from stacks.core.process import quoted
from stacks.core.workspace import default_workspace
from stacks.tasks.options import BUILT, CLUSTER, VARIANT, built, file_of
from stacks.tasks.task import excludes, needs, prepare_cluster, remainder, task, values


@task(
    "build --variant mkl",
    "build --variant openblas --framework pytensor-3.3.7",
    "build --variant mkl-amdlibm --to docker",
    help={
        "variant": VARIANT + " (default: openblas, unless results/ shows a faster one on this CPU)",
        "to": "prefix: an environment in build/ (default); docker: an image in the engine; oci: "
        "an image in a file",
        "file": "with --to oci: the file, which docker and podman can load (default: the "
        "image's name)",
        "from": "sources: build every package from its pinned sources, even if a published "
        "channel has it",
        "clean": "make the environment again, without the packages that you added with pip",
        "repair": "put back the files of a built environment that are not the locked ones",
        "cluster": CLUSTER + "; a bare NAME is built on each framework; without --variant: all",
    },
    rules=(
        values("to", "prefix docker oci"),
        values("from", "sources"),
        needs("channel", "variant cluster"),
        needs("file", "to=oci"),
        excludes("cluster", "to file json", "builds environments, with reports of its own"),
        excludes("repair", "to cluster", "is for one environment; an image is never changed"),
        excludes("clean", "repair to cluster", "makes one environment again, on this machine only"),
        excludes(
            "from",
            "channel to cluster",
            "builds environments of this project's channel, on this machine only",
        ),
        excludes("to=oci", "full json", "writes an image; `docker run IMAGE verify` verifies it"),
    ),
    protects=("build", "cache"),
)
def build(
    variant: str = "",
    framework: str = "",
    channel: str = "",
    to: str = "prefix",
    file: str = "",
    from_: str = "",
    clean: bool = False,
    repair: bool = False,
    full: bool = False,
    json: str = "",
    cluster: str = "",
) -> None:
    """Build a variant's environment, verify it, print the verdict."""
    workspace, json_file = default_workspace(), file_of(json)
    from stacks.environments import folders
    from stacks.environments.care import verify as verification
    from stacks.variants.load import load_variant, select

    if cluster:
        prepare_cluster()
        from stacks.cluster import command

        variants = select(workspace, _on(channel, variant), framework)
        command.build(workspace, cluster, variants, full=full)
        return
    if variant:
        chosen = load_variant(workspace, _on(channel, variant), framework or None)
    else:
        from stacks.bench.recommend import recommended

        chosen, reason = recommended(workspace, framework)
        print(f"building {chosen.name}: {reason}", file=sys.stderr)
        print(as_typed("--variant NAME builds another; ./invoke list shows all"), file=sys.stderr)
    if chosen.channel and to != "prefix":
        raise UsageError(
            "an image's name cannot have the `@` of another channel's packages",
            fix="leave out --to, or --channel and the `@`",
        )
    if to == "docker":
        from stacks.image import engine

        name = engine.build(workspace, chosen, full=full, json_file=json_file)
        next_step(f'docker run --rm -v "$PWD:/work" {name} python train.py')
    elif to == "oci":
        from stacks.image import metadata, oci

        target = file_of(file) or Path(metadata.config_of(workspace, chosen).file_name).absolute()
        print(oci.write(workspace, chosen, target))
        next_step(f"docker load --input {quoted([display_path(target)])}")
    else:
        anew = repair or clean or from_
        prefix = None if anew else folders.built_environment(workspace, chosen)
        if prefix is None:
            # Loaded here: the solver and the stages of packages.
            from stacks.environments.make import build as pipeline

            prefix = pipeline.make_environment(
                workspace, chosen, repair=repair, from_sources=bool(from_), clean=clean
            )
            if chosen.file:
                from stacks.environments.make import additions

                for line in additions.import_warnings(chosen, prefix):
                    print(line, file=sys.stderr)
        verification.verify_variant(
            workspace, chosen, prefix, full=full, json_file=json_file, brief=not full
        )
        if not full:
            print(as_typed(f"\neach check and timing: ./invoke verify {chosen.option}"))
        next_step(f"./invoke run {chosen.option} -- python train.py")


@task(
    "verify",
    "verify --variant mkl",
    "verify --python /usr/bin/python3",
    help={
        "variant": BUILT,
        "python": "diagnose this Python interpreter instead, which has Theano, a descendant of it, "
        "or only NumPy",
        "limit": "stop a step that takes longer than this, in seconds (default: 1200)",
    },
    rules=(excludes("python", "variant framework", "has the framework that is installed there"),),
)
def verify(
    variant: str = "",
    framework: str = "",
    python: str = "",
    full: bool = False,
    json: str = "",
    limit: int = 0,
) -> None:
    """Verify a built variant, or diagnose any Python (--python)."""
    workspace = default_workspace()
    from stacks.environments.care import verify as verification

    if python:
        verification.verify_python(python, full=full, json_file=file_of(json), limit=limit)
    else:
        chosen, prefix = built(variant, framework)
        verification.verify_variant(
            workspace, chosen, prefix, full=full, json_file=file_of(json), limit=limit
        )


@task(
    "recommend",
    "recommend -- python train.py",
    "recommend --variant stack.yaml -- python train.py",
    help={
        "variant": "the path of a stack.yaml: lock and build it on every flavour that fits, and "
        "time your program after -- on these",
        "rounds": "number of rounds; each times every variant once (default: 9)",
    },
    rules=(needs("variant", "--"),),
    takes_command=True,
)
def recommend(variant: str = "", framework: str = "", rounds: int = 9) -> None:
    """Name the fastest of the built variants: for products, or for your program after --."""
    workspace = default_workspace()
    program = remainder()
    if variant:
        from stacks.bench import recommend
        from stacks.variants.load import load_variant

        chosen = load_variant(workspace, variant, framework or None)
        recommend.recommend_for_stack(workspace, chosen, program, rounds=rounds)
        return
    if program:
        from stacks.bench import user_program
        from stacks.bench.candidates import choose_candidates

        built = choose_candidates(workspace, (), framework)
        user_program.bench(built, program, rounds=rounds)
        return
    from stacks.bench import recommend
    from stacks.locks.lock import with_other_channels
    from stacks.variants.load import on_framework

    recommend.recommend(
        workspace,
        with_other_channels(workspace, on_framework(workspace, framework or None)),
        rounds,
    )


@task("list", name="list")
def list_() -> None:
    """Show every variant: whether it is built and verified, and how fast it is."""
    workspace = default_workspace()
    from stacks.environments.care import listing
    from stacks.locks.lock import with_other_channels
    from stacks.variants.load import all_variants

    listing.show_list(workspace, with_other_channels(workspace, all_variants(workspace)))


@task(
    "clean --variant mkl",
    "clean --cache",
    help={
        "variant": "only the environment and reports of this variant (default: all of build/)",
        "cache": "also the cache of fetched and built files (THEANO_STACKS_CACHE)",
    },
    rules=(needs("framework", "variant"),),
)
def clean(variant: str = "", framework: str = "", cache: bool = False) -> None:
    """Remove environments and their reports."""
    workspace = default_workspace()
    from stacks.environments.care import clean as cleaning
    from stacks.variants.load import load_variant

    chosen = [load_variant(workspace, variant, framework or None)] if variant else None
    cleaning.clean(workspace, chosen, cache=cache)


def _on(channel: str, variant: str) -> str:
    """Return the name of a variant with the packages of a channel, if one is named."""
    if not channel:
        return variant
    from stacks.sources.condarc import channel_address
    from stacks.variants import stack

    if stack.file_of(variant):
        raise UsageError(
            "a stack.yaml has packages of this project's channel", fix="leave out --channel"
        )

    return f"{variant}@{channel_address(channel).label}"
