import pytest

from stacks.bench import candidates
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of
from stacks.environments.make import settings
from stacks.locks import lock
from unit.helpers.benching import LOCK, PASSED


@pytest.fixture
def built(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a workspace in which openblas is built, from the lock above."""
    place = own_workspace.environments / "theano-1.0.5/openblas"
    (place / settings.EXPECTATION).parent.mkdir(parents=True)
    (place / settings.EXPECTATION).write_text("{}")
    monkeypatch.setattr(
        folders, "is_ready", lambda workspace, variant, key: folder_of(workspace, variant).is_dir()
    )
    monkeypatch.setattr(lock, "current", lambda workspace, variant: LOCK)
    monkeypatch.setattr(
        candidates, "is_here", lambda report: report["machine"] == PASSED["machine"]
    )
    return own_workspace
