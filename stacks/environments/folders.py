"""Where a variant's environment is."""

from __future__ import annotations

from pathlib import Path

from stacks.core.workspace import Workspace
from stacks.variants import stack
from stacks.variants.variant import Variant

# The file of an environment that says that it is ready, and has the hash of what it is made from.
READY = "etc/theano-stacks/ready.json"


def folder_of(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's environment."""
    if variant.file:
        return folder_of_stack(variant.file)
    return workspace.environments / variant.framework.name / variant.name


def folder_of_stack(file: Path) -> Path:
    """Return the folder of a stack.yaml's environment."""
    return stack.build_folder(file) / "environment"
