from __future__ import annotations

import json
import subprocess
import sys

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.image import layout
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant, load_variant

LOCK = Lock(packages=(), requirements=(), sha256="0" * 64, sealed="", seal="")


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas", "theano-1.0.5")


def test_modules_are_those_of_the_package_that_layout_imports() -> None:
    program = "import json, sys, stacks.image.layout; print(json.dumps(list(sys.modules)))"
    output = subprocess.check_output([sys.executable, "-c", program], cwd=REPOSITORY)
    imported = {name for name in json.loads(output) if name.startswith("stacks.image.")}
    assert {module.__name__ for module in layout.MODULES} == imported - {layout.__name__}
