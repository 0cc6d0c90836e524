"""Tasks for sources, locks, the channel of packages, and images."""

import os
from pathlib import Path

from stacks.core.console import display_path, next_step
from stacks.core.errors import UsageError
from stacks.core.process import quoted
from stacks.core.workspace import default_workspace
from stacks.tasks.options import CHANNEL, file_of, folder_of, names_of, path_of
from stacks.tasks.task import excludes, needs, one_of, require_checkout, task


@task(
    "pin",
    "pin --alive",
    help={
        "check": "write nothing; fail if the archives offer other versions",
        "expired": "suites whose archive has ended, so that its Valid-Until is past: bullseye,sid",
        "alive": "pin nothing; ask each mirror and index which pinned files it still has; exit "
        "status 4 if one place at most has a file",
        "json": "with --alive: also write what each place has to this file, as JSON",
    },
    rules=(excludes("alive", "check expired", "pins nothing"), needs("json", "alive")),
    protects=("cache",),
)
def pin(check: bool = False, expired: str = "", alive: bool = False, json: str = "") -> None:
    """Pin the current sources and show what changed."""
    from stacks.project import pinned

    if alive:
        pinned.report(default_workspace(), path=file_of(json))
    else:
        require_checkout("pin")
        pinned.pin(default_workspace(), check=check, expired=names_of(expired))


@task(
    "lock --variant ~/model/stack.yaml",
    "lock --check",
    help={
        "variant": "lock only this variant, on every framework",
        "framework": "lock only variants on this framework",
        "channel": CHANNEL + "; --check covers these locks, too",
        "check": "write nothing; fail if a committed lock is stale, and show what changed",
        "sdist": "with --no-sdist: refuse packages of a stack.yaml that have no wheel",
        "upgrade": "take the newest packages for a stack.yaml instead of the locked ones (a "
        "variant of envs/ always takes those of the recipes)",
    },
    rules=(excludes("check", "upgrade", "writes nothing"),),
    protects=("cache",),
)
def lock(
    variant: str = "",
    framework: str = "",
    channel: str = "",
    check: bool = False,
    sdist: bool = True,
    upgrade: bool = False,
) -> None:
    """Solve the variants and write their locks (envs/locks, or next to a stack.yaml)."""
    workspace = default_workspace()
    from stacks.locks import update as lock_update
    from stacks.locks.lock import with_other_channels
    from stacks.variants.load import select

    chosen = select(workspace, variant, framework)
    where = f" --framework {framework}" if framework else ""
    if not chosen[0].file:
        require_checkout("lock without a stack.yaml")
    if chosen[0].channel and not (check or channel):
        name = variant.partition("@")[0]
        raise UsageError(
            f"{variant} has the packages of another channel",
            fix=f"./invoke lock --variant {name}{where} --channel <its name or address>",
        )
    # The examples are the checkout's own stacks.
    stacks = () if variant or framework or channel else lock_update.examples(workspace)
    if check:
        lock_update.check_locks(workspace, (*with_other_channels(workspace, chosen), *stacks))
    elif chosen[0].file and channel:
        raise UsageError(
            "a stack.yaml is locked on this project's channel", fix="leave out --channel"
        )
    elif chosen[0].file:
        from stacks.environments.make import build

        build.relock(workspace, chosen[0], with_sdists=sdist, upgrade=upgrade)
        next_step(f"./invoke build {chosen[0].option}")
    elif channel:
        lock_update.relock_from(workspace, chosen, channel)
        name = variant or chosen[0].name
        next_step(f"./invoke build --variant {name}{where} --channel {quoted([channel])}")
    else:
        from stacks.environments.make import build

        lock_update.relock(workspace, chosen)
        for each in stacks:
            build.relock(workspace, each, upgrade=upgrade, keep_flavour=False)
        next_step(f"./invoke build {chosen[0].option}")


@task(
    "publish-channel --to channel",
    "publish-channel --to oci://HOST/NAME --key env:CHANNEL_KEY",
    name="publish-channel",
    help={
        "to": "the folder to write, or oci://HOST/NAME: a registry",
        "include": "packages that are published only on request, such as mkl",
        "key": "the private key that signs the list of digests: a file, or env:VARIABLE",
        "check": "write nothing; fail if a file of the folder differs from the locks",
        "images": "also what docker/Dockerfile builds with",
        "new-key": "make a private key, in this file, and the public one in the repository",
    },
    rules=(
        one_of("to new-key"),
        excludes("new-key", "include key check images", "makes a key"),
        excludes("check", "key images", "compares a folder, and finds both in it"),
    ),
    protects=("cache",),
)
def publish_channel(
    to: str = "",
    include: str = "",
    key: str = "",
    check: bool = False,
    images: bool = False,
    new_key: str = "",
) -> None:
    """Write the channel's packages for others: a static channel, or a registry."""
    from stacks.core.paths import expanded
    from stacks.distribution import channel as published
    from stacks.distribution import signature
    from stacks.sources.places import CHANNEL as CHANNELS
    from stacks.sources.registry import is_registry

    workspace = default_workspace()
    if new_key:
        require_checkout("--new-key")
        private = path_of(new_key)
        public = signature.make_key(workspace, private)
        print(f"{private}: keep it secret; {display_path(public)}: commit it")
        return
    published.publish_channel(
        workspace, to, include=names_of(include), key=key, check=check, images=images
    )
    if not check:
        # As a URL: the variable may have several, between blanks.
        place = to if is_registry(to) else Path(os.path.realpath(expanded(to))).as_uri()
        source = f"{CHANNELS}={quoted([place])}"
        print("a build, on any machine that reaches it, takes the packages from there")
        next_step(f"{source} ./invoke build")


@task(
    "release --to release",
    "release --to release --tag v1.0.0rc1",
    help={
        "to": "the folder to write (an existing release is replaced)",
        "tag": "the tag that is released; without it, this is a trial of any commit",
    },
    in_checkout=True,
)
def release(to: str, tag: str = "") -> None:
    """Write the files of a release: wheel, blas-verify.pyz, digests."""
    from stacks.distribution import release as releasing

    folder = folder_of(to)
    releasing.release(default_workspace(), folder, tag=tag)
    next_step(f"(cd {quoted([display_path(folder)])} && sha256sum --check {releasing.DIGESTS})")


@task(
    "serve",
    "serve --variant ~/model/stack.yaml",
    help={
        "port": "port to listen on, on this machine only (default: 8420, as in the locks)",
        "variant": "also serve the packages of this stack.yaml",
    },
    protects=("build", "cache"),
)
def serve(port: int = 8420, variant: str = "") -> None:
    """Serve the channel on this machine for conda clients."""
    from stacks.environments.use import serve as serving
    from stacks.variants.load import select

    workspace = default_workspace()
    serving.serve(workspace, port, select(workspace, variant) if variant else ())


@task(
    "reproduce --variant mkl",
    "reproduce --variant blis --framework theano-0.8.2",
    protects=("build", "cache"),
)
def reproduce(variant: str, framework: str = "") -> None:
    """Build an image twice in different ways and compare both."""
    workspace = default_workspace()
    from stacks.image import builder
    from stacks.variants.load import load_variant

    print(builder.reproduce(workspace, load_variant(workspace, variant, framework or None)))


@task(
    "matrix",
    "matrix --changed main",
    help={
        "changed": "a commit: only variants that changes since then concern; if code changed, one "
        "of each framework"
    },
    in_checkout=True,
)
def matrix(changed: str = "") -> None:
    """Print the matrix of CI's jobs, as JSON in one line."""
    workspace = default_workspace()
    import json

    from stacks.project.checks import changed as concerned
    from stacks.project.checks import matrix
    from stacks.variants.load import all_variants

    every = all_variants(workspace)
    chosen = concerned(workspace, every, changed) if changed else every
    print(json.dumps(matrix(workspace, every, chosen)))
