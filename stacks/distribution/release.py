"""`./invoke release`: the files of a release, with the same bytes for the same commit.

theano_stacks-VERSION-py3-none-any.whl    the command `theano-stacks`
blas_verify-VERSION-py2.py3-none-any.whl  the verification, and a plugin for pytest
blas-verify.pyz                           the verification as one file, for any Python
channel/                                  the channel's packages, if requested
NOTES.md                                  what CHANGELOG.md says of the version, for a tag
SHA256SUMS                                the digest of each file, as sha256sum prints it
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from stacks.core import digest_list
from stacks.core.console import display_path, plural, step
from stacks.core.disk import fixed_umask, replace_atomically, scratch
from stacks.core.errors import StaleError, UsageError
from stacks.core.process import call
from stacks.core.reproducible import environment
from stacks.core.venv import RELEASE_LOCK, prepare_tools
from stacks.core.version import VERSION, described, revision
from stacks.core.workspace import Workspace
from stacks.distribution import channel, verify_app

DIGESTS = "SHA256SUMS"
NOTES = "NOTES.md"


def release(
    workspace: Workspace, folder: Path, *, tag: str = "", with_channel: bool = False
) -> None:
    """Write a release into a folder, in place of one that is there.

    tag: the git tag that is released; without it, this is a trial. Raises UsageError if the folder
    has something else, or the tag is not that of the version; StaleError if files of the checkout
    differ from the commit, or CHANGELOG.md lacks the version.
    """
    digest_list.check_rewritable(folder, DIGESTS, "release")
    notes_of_tag = _notes_for(workspace, tag) if tag else None
    what = f"theano-stacks {described(workspace.root)}"
    prepare_tools(Path(sys.prefix), RELEASE_LOCK)
    with step("release", display_path(folder)), fixed_umask(), replace_atomically(folder) as new:
        new.mkdir()
        write_wheel(workspace, new)
        verify_app.write(workspace, new)
        verify_app.write(workspace, new, wheel=True)
        if with_channel:
            channel.publish_to_folder(workspace, new / "channel")
        if notes_of_tag is not None:
            (new / NOTES).write_text(notes_of_tag)
        digests = digest_list.list_folder(new)
        (new / DIGESTS).write_text(digests)
    print(f"{what}: {plural(len(digests.splitlines()), 'file')}")


def write_wheel(workspace: Workspace, folder: Path) -> None:
    """Write the project's wheel into a folder; `prepare_tools` must have installed hatchling."""
    with scratch() as home:
        call(
            [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", folder],
            cwd=workspace.root,
            env=environment(home),
        )


def _notes_for(workspace: Workspace, tag: str) -> str:
    """Return the notes of the version that a tag names, if this checkout may be released as it."""
    if tag != f"v{VERSION}":
        raise UsageError(
            f"the tag {tag} is not that of this version",
            expected=f"v{VERSION}",
            fix="edit stacks/core/version.py, or name the right tag",
        )
    commit, is_changed = revision(workspace.root)
    if is_changed:
        raise StaleError(
            "files of this checkout differ from its commit",
            found=f"commit {commit}, with changes" if commit else "no commit",
            fix="commit them, then tag that commit",
        )
    return notes((workspace.root / "CHANGELOG.md").read_text(encoding="utf-8"), VERSION)


def notes(changelog: str, version: str) -> str:
    """Return what a changelog says of a version; StaleError if it has no section with its date."""
    head = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n"
    found = re.search(rf"{head}(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if not found:
        raise StaleError(
            f"CHANGELOG.md has no section of {version}",
            expected=f"## [{version}] - YYYY-MM-DD",
            fix="give the section Unreleased that name, and begin a new one above it",
        )
    return found[1].strip() + "\n"
