from __future__ import annotations

from stacks.core.workspace import Workspace
from stacks.environments.folders import folder_of
from stacks.variants.load import load_variant


def test_an_environment_is_below_its_framework(workspace: Workspace) -> None:
    variant = load_variant(workspace, "openblas", "theano-0.8.2")
    assert folder_of(workspace, variant) == workspace.build / "prefixes/theano-0.8.2/openblas"
