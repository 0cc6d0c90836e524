from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas", "theano-1.0.5")


@pytest.fixture
def prefix(tmp_path: Path, variant: Variant) -> Path:
    """Return the folder of an environment that has nothing but the folder of Python's packages."""
    place = tmp_path / "prefix"
    (place / f"lib/python{variant.framework.python}/site-packages").mkdir(parents=True)
    return place
