"""`./invoke publish`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from stacks.bench import store
from stacks.bench.store import StoredResult
from stacks.core.console import display_path
from stacks.core.disk import write_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.publish import markdown, page
from stacks.publish.sessions import sessions


def publish(workspace: Workspace) -> None:
    """Write docs/timings.md and site/index.html from results/.

    Raises UsageError if there are no results, and, after writing the others, if a result cannot be
    published.
    """
    stored, messages = _results(workspace)
    for message in messages:
        print(f"left out: {message}", file=sys.stderr)
    if not stored:
        raise UsageError(
            "no results to publish",
            fix="make some: ./invoke bench; for a first try: --variants pip-default,mkl --quick",
        )
    for path, text in rendered(stored, workspace.root).items():
        write_atomically(path, text)
        print(f"{display_path(path)}: {len(text.encode()) / 1e3:.0f} kB")
    if messages:
        raise UsageError(
            f"published without {len(messages)} of {len(stored) + len(messages)} results",
            fix="see the messages above for each result that was left out",
        )


def check(workspace: Workspace) -> None:
    """Raise StaleError if docs/timings.md or site/index.html is not what results/ gives."""
    stored, _ = _results(workspace)
    root = workspace.root
    expected = rendered(stored, root) if stored else dict.fromkeys(_paths(root), "")
    stale = [
        display_path(path)
        for path, text in expected.items()
        if (path.read_text() if path.is_file() else "") != text
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not what results/ gives",
            fix="run `./invoke publish` and commit the files together with the results"
            if stored
            else "remove these files: there are no results",
        )


def rendered(stored: Sequence[StoredResult], root: Path) -> dict[Path, str]:
    """Return {path: text} of the published files; the same results give the same bytes."""
    every = sessions(stored)
    return dict(zip(_paths(root), (markdown.document(every), page.document(every)), strict=True))


def _paths(root: Path) -> tuple[Path, Path]:
    return root / "docs" / "timings.md", root / "site" / "index.html"


def _results(workspace: Workspace) -> tuple[list[StoredResult], list[str]]:
    """Return the results to publish, and the reasons why others are left out."""
    stored, errors = store.read_all(workspace)
    misplaced = store.misplaced(stored)
    messages = [*misplaced.values(), *map(str, errors)]
    return [one for one in stored if one.path not in misplaced], messages
