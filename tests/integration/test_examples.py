"""The programs of examples/, each in its own environment; each asserts its own result."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.programs import called
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.make import build
from stacks.environments.programs import environment
from stacks.variants.load import load_variant

EXAMPLES = sorted(path.parent for path in (REPOSITORY / "examples").glob("*/stack.yaml"))
# Seconds; the longest takes a minute on two quiet cores.
LIMIT = 900


@pytest.mark.parametrize(
    "folder",
    # test_kernel.py runs the notebook.
    [folder for folder in EXAMPLES if not list(folder.glob("*.ipynb"))],
    ids=lambda folder: folder.name,
)
def test_example(folder: Path, workspace: Workspace, tmp_path: Path) -> None:
    # A copy, so that no test leaves anything in the checkout.
    copy = tmp_path / folder.name
    copy.mkdir()
    (copy / "stack.yaml").write_bytes((folder / "stack.yaml").read_bytes())
    (copy / "stack.lock").symlink_to(folder / "stack.lock")
    place = build.make_environment(workspace, load_variant(workspace, str(copy)))
    [program] = folder.glob("*.py")
    done = called(
        [place / "bin/python", program], env=environment(place), cwd=tmp_path, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
