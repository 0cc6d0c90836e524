from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core import workspace
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace, default_workspace


def test_every_folder_is_below_the_root() -> None:
    found = Workspace(Path("/root"), Path("/cache"))
    names = [name for name, value in vars(Workspace).items() if isinstance(value, property)]
    assert len(names) > 10
    for name in names:
        assert getattr(found, name).is_relative_to("/root"), name


def test_what_can_be_removed_is_below_build() -> None:
    found = Workspace(Path("/root"), Path("/cache"))
    for path in (found.environments, found.reports, found.images):
        assert path.parent == found.build


def test_the_default_is_this_checkout_and_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANO_STACKS_CACHE", "/my/cache")
    assert default_workspace() == Workspace(REPOSITORY, Path("/my/cache"))


def test_what_the_installed_command_makes_is_in_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "INSTALLED", True)
    monkeypatch.setenv("THEANO_STACKS_HOME", "/my/home")
    found = default_workspace()
    assert (found.root, found.home) == (REPOSITORY, Path("/my/home"))
    names = [name for name, value in vars(Workspace).items() if isinstance(value, property)]
    made = {name for name in names if getattr(found, name).is_relative_to("/my/home")}
    assert made == {
        "build", "cluster", "environments", "images", "logs", "reports", "results"
    }  # fmt: skip
    assert found.shown(found.reports) == "/my/home/build/reports"
    assert found.shown(REPOSITORY / "envs/x") == "envs/x"
