from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace, default_workspace


def test_every_folder_is_below_the_root() -> None:
    workspace = Workspace(Path("/root"), Path("/cache"))
    names = [name for name, value in vars(Workspace).items() if isinstance(value, property)]
    assert len(names) > 10
    for name in names:
        assert getattr(workspace, name).is_relative_to("/root"), name


def test_what_can_be_removed_is_below_build() -> None:
    workspace = Workspace(Path("/root"), Path("/cache"))
    for path in (workspace.environments, workspace.reports, workspace.images, workspace.channel):
        assert path.parent == workspace.build


def test_the_default_is_this_checkout_and_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANO_STACKS_CACHE", "/my/cache")
    assert default_workspace() == Workspace(REPOSITORY, Path("/my/cache"))
