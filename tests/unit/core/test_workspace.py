"""The folders of a checkout and of the installed command; the version and the commit."""

from __future__ import annotations

import importlib.metadata
import subprocess
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from packaging.version import Version

from stacks.core import workspace
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace, default_workspace

NAMES = [name for name, value in vars(Workspace).items() if isinstance(value, property)]


def test_every_folder_is_below_the_root_and_what_can_be_removed_below_build() -> None:
    found = Workspace(Path("/root"), Path("/cache"))
    assert len(NAMES) > 9
    for name in NAMES:
        assert getattr(found, name).is_relative_to("/root"), name
    for path in (found.environments, found.reports, found.images):
        assert path.parent == found.build


def test_what_the_installed_command_makes_is_in_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "INSTALLED", True)
    monkeypatch.setenv("THEANO_STACKS_HOME", "/my/home")
    monkeypatch.setenv("THEANO_STACKS_CACHE", "/my/cache")
    found = default_workspace()
    assert found == Workspace(REPOSITORY, Path("/my/cache"), Path("/my/home"))
    made = {name for name in NAMES if getattr(found, name).is_relative_to("/my/home")}
    assert made == {
        "build", "cluster", "environments", "images", "logs", "reports", "results"
    }  # fmt: skip
    assert found.shown(found.reports) == "/my/home/build/reports"
    assert found.shown(REPOSITORY / "envs/x") == "envs/x"


def test_the_project_takes_its_version_from_here() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project
    assert '[tool.hatch.version]\npath = "stacks/core/workspace.py"\n' in project
    assert str(Version(workspace.VERSION)) == workspace.VERSION, "as Python writes it"


def test_the_commit_of_a_checkout(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        return subprocess.check_output(["git", "-C", checkout, *identity, *words], text=True)

    checkout = tmp_path / "checkout"
    (checkout / "results").mkdir(parents=True)
    (checkout / "file").touch()
    git("init", "-q")
    git("add", "file")
    git("commit", "-q", "-m", "first")
    commit = git("rev-parse", "HEAD").strip()
    (checkout / "results/new").touch()
    assert workspace.revision(checkout) == (commit, False)
    assert workspace.described(checkout) == f"{workspace.VERSION}, commit {commit[:12]}"
    (checkout / "file").write_text("changed")
    assert workspace.described(checkout).endswith(", with changes")
    # A copy without git has no commit, also in another project's checkout.
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
