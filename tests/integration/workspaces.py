"""Workspaces and caches of a test's own."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from stacks.channel import build as package_builds
from stacks.channel.offers import Channel, with_settings
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.make.pip_install import link_or_copy
from stacks.locks import lock
from stacks.sources.fetch import fetch
from stacks.variants.variant import Variant


def workspace_below(root: Path, cache: Path, copies: Collection[str] = ()) -> Workspace:
    """Return a workspace with a build folder of its own.

    It has links to this checkout's settings, locks, recipes and Dockerfiles; `copies` names the
    folders that are copied instead, so that a test can change them.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name in ("envs", "recipes", "docker"):
        if name in copies:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(REPOSITORY / name, root / name, ignore=ignored)
        else:
            # Two processes may share the folder.
            with suppress(FileExistsError):
                (root / name).symlink_to(REPOSITORY / name)
    return Workspace(root, cache)


def share_packages(workspace: Workspace, channel: Channel, variant: Variant, cache: Path) -> None:
    """Link a lock's packages and wheels into another cache, built or fetched where missing."""
    locked = lock.read(workspace, variant)
    channel = with_settings(channel, [variant])
    built = package_builds.obtain_packages(workspace, channel, locked.packages, quiet=True)
    files = fetch(workspace, locked.requirements)
    for folder in {path.parent for path in (*(b.path for b in built.values()), *files.values())}:
        target = cache / folder.relative_to(workspace.cache)
        target.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if not (target / path.name).exists():
                link_or_copy(path, target / path.name)
