"""DOC."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from stacks.core.disk import explained
from stacks.core.workspace import Workspace
from stacks.environments import in_use, prefix, reports
from stacks.environments.reports import report_path
from stacks.variants.variant import Variant

# What the other modules keep in the cache.
CACHED = ("bases", "layers", prefix.MODULES, "packages", "sources", "unpacked")


def clean(workspace: Workspace, variants: Sequence[Variant] | None, *, cache: bool) -> None:
    """Remove environments and reports (all of build/ for None), and the cache where asked.

    Of the cache's folder only what was put there: a person may have chosen one with other things.
    Raises uses.InUseError, with nothing removed, where a process uses any of it.
    """
    if variants is None:
        paths = sorted(workspace.build.glob("*"))
    else:
        paths = [
            p
            for v in variants
            for p in (
                prefix.place_of(workspace, v),
                report_path(workspace, v),
                reports.workload_reports(workspace, v),
            )
        ]
    if cache:
        paths += [workspace.cache / name for name in CACHED]
    found = [path for path in paths if path.exists()]
    if not found:
        print("nothing to remove")
        return
    with ExitStack() as locks:
        if variants is None:
            locks.enter_context(
                in_use.unused(in_use.lock_of_build(workspace), str(workspace.build))
            )
        else:
            in_use.use(in_use.lock_of_build(workspace))
            for variant in variants:
                locks.enter_context(in_use.unused(in_use.lock_of(workspace, variant), variant.id))
        if cache:
            locks.enter_context(
                in_use.unused(in_use.lock_of_cache(workspace), f"the cache {workspace.cache}")
            )
        for path in filter(Path.exists, found):
            print(f"removing {path}")
            with explained(path):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
