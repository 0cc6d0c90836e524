"""Removal of environments, reports and the cache."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.disk import explain_disk_errors
from stacks.core.workspace import Workspace
from stacks.environments import folders, in_use
from stacks.environments.care import leftovers
from stacks.environments.folders import folder_of, folder_of_stack, report_path
from stacks.environments.make import prefix
from stacks.environments.use import kernel
from stacks.variants import stack
from stacks.variants.variant import Variant

# What other modules make in the cache.
CACHED = (
    *("bases", "built", "layers", prefix.MODULES, "packages", "sources", "unpacked", "uv"),
    "wheels",
)


def clean(workspace: Workspace, variants: Sequence[Variant] | None, *, cache: bool) -> None:
    """Remove environments and reports (all of build/ for None), and if requested the cache.

    Other files in the cache's folder stay: a person may have chosen a shared one. With the cache go
    the leftovers of killed processes, which are counted, also those in TMPDIR. Raises
    in_use.InUseError, and removes nothing, if a process uses any of it.
    """
    if variants is None:
        paths = sorted(workspace.build.glob("*"))
    else:
        paths = [
            p
            for v in variants
            for p in (
                folder_of(workspace, v),
                prefix.folder_of_replaced(folder_of(workspace, v)),
                kernel.folder_of_packages(folder_of(workspace, v)),
                report_path(workspace, v),
                folders.workload_reports(workspace, v),
                *([stack.flavours_folder(v.file)] if v.file else []),
            )
        ]
    if cache:
        paths += [workspace.cache / name for name in CACHED]
    with ExitStack() as locks:
        if variants is None:
            locks.enter_context(
                in_use.hold_exclusive(in_use.lock_of_build(workspace), str(workspace.build))
            )
        else:
            in_use.hold_shared(in_use.lock_of_build(workspace))
            for name, folder in _environments(workspace, variants):
                # A first build has its lock before its folder.
                if folder.exists() or in_use.lock_of(folder).exists():
                    locks.enter_context(in_use.hold_exclusive(in_use.lock_of(folder), name))
        existing = [path for path in paths if path.exists()]
        if not existing and not (cache and any(leftovers.in_cache(workspace, resumed=0))):
            print("nothing to remove")
            return
        if cache:
            locks.enter_context(
                in_use.hold_exclusive(
                    in_use.lock_of_cache(workspace), f"the cache {workspace.cache}"
                )
            )
            leftovers.collect_scratch()
            leftovers.remove(leftovers.in_cache(workspace, resumed=0), workspace.cache)
        for path in existing:
            print(f"removing {path}")
            with explain_disk_errors(path):
                _remove(path)
        if cache:
            # The locks of what was removed.
            leftovers.remove(leftovers.in_cache(workspace), workspace.cache)


def _remove(path: Path) -> None:
    """Remove a file or a folder; a link to a folder, as to a larger disk, stays and is emptied."""
    if not path.is_dir():
        path.unlink()
    elif path.is_symlink():
        for child in path.iterdir():
            # The links in it lead to what is not the environment's.
            child.unlink() if child.is_symlink() else _remove(child)
    else:
        shutil.rmtree(path)


def _environments(workspace: Workspace, variants: Sequence[Variant]) -> Iterator[tuple[str, Path]]:
    """Yield the name and folder of each environment that a process may use.

    With a stack are its copies on other flavours, of which some may no longer exist.
    """
    for variant in variants:
        yield variant.id, folder_of(workspace, variant)
        if variant.file:
            for file in sorted(stack.flavours_folder(variant.file).glob(f"*/{stack.NAME}")):
                yield display_path(file), folder_of_stack(file)
