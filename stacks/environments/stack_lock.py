"""Locking a stack.yaml: as any variant, and its own packages against what is installed then."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path

from stacks.channel.build import build_packages
from stacks.channel.offers import Channel, read_channel
from stacks.channel.package import Digests
from stacks.core.console import display_path, plural, step
from stacks.core.disk import DiskError, scratch
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments import build
from stacks.locks import lock, requirements
from stacks.locks.digests import digests_of
from stacks.locks.folders import lock_folder
from stacks.sources.pins import IndexPin
from stacks.variants.variant import Variant


def relock(
    workspace: Workspace, variant: Variant, *, with_sdists: bool = True, upgrade: bool = False
) -> None:
    """Write the lock of a stack.yaml beside it.

    with_sdists: source archives are allowed where there is no wheel. upgrade: its packages move to
    the newest versions; else those of the present lock stay where they fit (not on Python 2.7,
    whose packages have no new versions). Raises UsageError if its packages do not fit the
    framework, or one has no wheel and needs one.
    """
    assert variant.file
    channel = read_channel(workspace)
    offers = lock.solve(variant, channel)
    built = build_packages(workspace, channel, offers)
    digests = {name: digests_of(package.path) for name, package in built.items()}
    preferred = () if upgrade else lock.own_files(workspace, variant)
    own, pylock = (
        _choose(workspace, variant, channel, digests, preferred) if variant.requests else ((), None)
    )
    sdists = [pin for pin in own if not pin.filename.endswith(".whl")]
    if sdists and not with_sdists:
        raise UsageError(
            f"{display_path(variant.file)}: {_names(sdists)} only as a source archive",
            fix="ask for a version with a wheel, or leave out --no-sdist",
        )
    more = {requirements.PYLOCK: pylock} if pylock else {}
    lock.make(workspace, variant, channel, digests, own, more)
    print(f"  {'locked':<9}{display_path(lock_folder(workspace, variant))}", file=sys.stderr)
    if sdists:
        print(
            f"note: the index has {_names(sdists)} only as a source archive: the lock fixes that; "
            "`build` compiles it here, once",
            file=sys.stderr,
        )
    if own:
        print(f"{plural(len(own), 'package')} of your own", file=sys.stderr)


def _choose(
    workspace: Workspace,
    variant: Variant,
    channel: Channel,
    digests: Mapping[str, Digests],
    preferred: Sequence[IndexPin],
) -> tuple[tuple[IndexPin, ...], str | None]:
    """Return the files of a stack's own packages, and the text of pylock.toml, if any.

    They are chosen against an environment that has all else. digests: those of its packages.
    preferred: their versions stay where they fit.
    """
    with scratch() as folder, step("resolve", plural(len(variant.requests), "request")):
        _check_runs(folder)
        base = variant.model_copy(update={"file": folder / "base.yaml", "requests": ()})
        lock.make(workspace, base, channel, digests)
        # Its lines would name a folder that is gone a moment later.
        with redirect_stderr(io.StringIO()):
            prefix = build.make_environment(workspace, base)
        python = prefix / "bin/python"
        return requirements.resolve(workspace, variant, python, channel.pins, preferred)


def _check_runs(folder: Path) -> None:
    """Raise DiskError if no program may run in a temporary folder."""
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise DiskError(
            f"{folder.parent}: no program may run there (noexec)",
            fix="set TMPDIR to another folder",
        )


def _names(pins: Sequence[IndexPin]) -> str:
    return ", ".join(f"{pin.name} {pin.version}" for pin in pins)
