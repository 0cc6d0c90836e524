from __future__ import annotations

import importlib.metadata
import subprocess
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from packaging.version import Version

from stacks.core import workspace
from stacks.core.disk import REPOSITORY


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", folder, *own, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "results").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "file").touch()
    git(folder, "add", "file")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_the_project_takes_its_version_from_here() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project
    assert '[tool.hatch.version]\npath = "stacks/core/workspace.py"\n' in project
    assert str(Version(workspace.VERSION)) == workspace.VERSION, "as Python writes it"


def test_the_commit_of_a_checkout(checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "HEAD")
    assert workspace.revision(checkout) == (commit, False)
    assert workspace.described(checkout) == f"{workspace.VERSION}, commit {commit[:12]}"
    (checkout / "results/new").touch()
    assert workspace.revision(checkout) == (commit, False)
    (checkout / "file").write_text("changed")
    assert workspace.described(checkout).endswith(", with changes")


def test_a_copy_without_git_has_no_commit(checkout: Path, tmp_path: Path) -> None:
    # Also one that lies in another project's checkout.
    for folder in (tmp_path / "copy", checkout / "copy"):
        folder.mkdir()
        assert workspace.revision(folder) == (None, True)
        assert workspace.described(folder) == workspace.VERSION


@pytest.mark.parametrize(
    ("direct_url", "shown"),
    [
        (None, False),
        ('{"url": "file:///a.whl", "archive_info": {}}', False),
        ('{"url": "it", "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"}}', True),
    ],
)
def test_the_installed_command_has_the_commit_of_its_repository(
    direct_url: str | None, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "METADATA").write_text("Name: theano-stacks\n")
    if direct_url:
        (tmp_path / "direct_url.json").write_text(direct_url)
    monkeypatch.setattr(workspace, "INSTALLED", True)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: PathDistribution(tmp_path))
    assert workspace.described() == workspace.VERSION + (", commit 0123456789ab" if shown else "")
