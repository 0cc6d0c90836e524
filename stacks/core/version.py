"""The version of this project, and the commit of the checkout."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path

from stacks.core.disk import INSTALLED, REPOSITORY
from stacks.core.process import CommandError, call

# The only place of it: pyproject.toml reads this line.
VERSION = "1.0.0rc1"


def revision(root: Path = REPOSITORY) -> tuple[str | None, bool]:
    """Return the commit of this project and whether files outside results/ differ from it.

    (None, True) for a folder that is no checkout, also one inside another project's checkout. The
    installed command has a commit if it was installed from a repository.
    """
    if INSTALLED and root == REPOSITORY:
        return _installed_commit(), False
    git = ("git", "-C", root)
    try:
        top, commit = call([*git, "rev-parse", "--show-toplevel", "HEAD"]).splitlines()
        if Path(top) != root.resolve():
            return None, True
        changes = call([*git, "status", "--porcelain", "--", ".", ":!results"])
    except (CommandError, ValueError):
        return None, True
    return commit, bool(changes.strip())


def _installed_commit() -> str | None:
    """Return the commit of the repository that pip or uv installed this from. Source: PEP 610."""
    text = distribution("theano-stacks").read_text("direct_url.json")
    commit = json.loads(text or "{}").get("vcs_info", {}).get("commit_id")
    return str(commit) if commit else None


def described(root: Path = REPOSITORY) -> str:
    """Return the version for people, with the commit if there is one."""
    commit, changed = revision(root)
    if commit is None:
        return VERSION
    return f"{VERSION}, commit {commit[:12]}{', with changes' if changed else ''}"
