"""Sources, locks, and the channel for other clients."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.options import CHANNEL
from stacks.tasks.task import task


@task(
    help={"check": "change nothing; fail where the archives offer something else by now"},
    uses=("cache",),
)
def pin(context: Context, check: bool = False) -> None:
    """Pin the sources anew and show what changed."""
    workspace = default_workspace()
    from stacks.project import pinning

    pinning.pin(workspace, check=check)


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
    workspace = default_workspace()
    from stacks.locks import lock
    from stacks.locks import update as lock_update
    from stacks.variants.variant import select

    chosen = select(workspace, variant, framework)
    if check:
        lock_update.check_locks(workspace, lock.with_other_channels(workspace, chosen))
    elif channel:
        from stacks.locks import other_channel

        other_channel.relock(workspace, chosen, channel)
    else:
        lock_update.relock(workspace, chosen)


@task(
    help={"port": "where to listen on this machine (default: 8420, as the locks say)"},
    uses=("build", "cache"),
)
def serve(context: Context, port: int = 8420) -> None:
    """Serve the channel on this machine for conda clients."""
    workspace = default_workspace()
    from stacks.environments import serve as serving

    serving.serve(workspace, port)
