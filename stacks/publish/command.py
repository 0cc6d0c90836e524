"""`./invoke publish`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from stacks.bench import store
from stacks.bench.store import Found
from stacks.core.disk import write_whole
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.core.yamlfile import shown
from stacks.publish import markdown, page
from stacks.publish.sessions import sessions


def publish(
    workspace: Workspace,
) -> None:
    """Write docs/timings.md and site/index.html below `root` from its results/.

    Raises UsageError where there are no results, and where some of them had to be left out; the
    others are published then.
    """
    found, said = _results(workspace, workspace.root)
    for one in said:
        print(f"left out: {one}", file=sys.stderr)
    if not found:
        raise UsageError(
            "no results to publish",
            fix="./invoke bench makes some; add --variants pip-default,mkl --quick to begin with",
        )
    for path, text in rendered(found, workspace.root).items():
        write_whole(path, text)
        print(f"{shown(path)}: {len(text.encode()) / 1e3:.0f} kB")
    if said:
        raise UsageError(
            f"published without {len(said)} of {len(found) + len(said)} results",
            fix="see above what is wrong with each that was left out",
        )


def check(
    workspace: Workspace,
) -> None:
    """Raise StaleError where what is published below `root` is not what its results/ give."""
    found, _ = _results(workspace, workspace.root)
    wanted = (
        rendered(found, workspace.root) if found else dict.fromkeys(_places(workspace.root), "")
    )
    stale = [
        str(shown(path))
        for path, text in wanted.items()
        if (path.read_text() if path.is_file() else "") != text
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not what results/ gives",
            fix="run `./invoke publish` and commit what it writes, with the results"
            if found
            else "there are no results: take these files away",
        )


def rendered(found: Sequence[Found], root: Path) -> dict[Path, str]:
    """Return {path: text} of all that follows from results; the same results, the same bytes."""
    every = sessions(found)
    return dict(zip(_places(root), (markdown.document(every), page.document(every)), strict=True))


def _places(root: Path) -> tuple[Path, Path]:
    return root / "docs" / "timings.md", root / "site" / "index.html"


def _results(workspace: Workspace, root: Path) -> tuple[list[Found], list[str]]:
    """Return what can be published, and why the rest cannot."""
    found, bad = store.read_all(workspace)
    strange = [one.path for one in store.strangers(found)]
    said = [*store.mixed(found), *map(str, bad)]
    return [one for one in found if one.path not in strange], said
