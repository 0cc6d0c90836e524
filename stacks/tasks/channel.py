"""Sources, locks, and the channel for other clients."""

from __future__ import annotations

from invoke.context import Context

from stacks.front import task
from stacks.tasks.words import CHANNEL


@task(
    help={"check": "change nothing; fail where the archives offer something else by now"},
    uses=("cache",),
)
def pin(context: Context, check: bool = False) -> None:
    """Pin the sources anew and show what changed."""
    from stacks import pinning

    pinning.pin(check=check)


@task(
    help={
        "variant": "only this one, on every framework",
        "framework": "only on this one",
        "channel": CHANNEL + "; its locks lie beside our own, and --check covers them",
        "check": "change nothing; fail where a committed lock is stale, and say what changed",
    },
    uses=("cache",),
)
def lock(
    context: Context, variant: str = "", framework: str = "", channel: str = "", check: bool = False
) -> None:
    """Solve the variants and write their locks (envs/locks)."""
    from stacks import lock, pipeline
    from stacks.variant import select

    chosen = select(variant, framework)
    if check:
        pipeline.check_locks(lock.and_elsewhere(chosen))
    elif channel:
        from stacks import foreign

        foreign.relock(chosen, channel)
    else:
        pipeline.relock(chosen)


@task(
    help={"port": "where to listen on this machine (default: 8420, as the locks say)"},
    uses=("build", "cache"),
)
def serve(context: Context, port: int = 8420) -> None:
    """Serve the channel on this machine for conda clients."""
    from stacks import serving

    serving.serve(port)
