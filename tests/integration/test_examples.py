"""The programs of examples/, each in its own environment; each asserts its own result."""

from __future__ import annotations

import json
import subprocess
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


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_what_a_folder_has(folder: Path) -> None:
    names = {path.name for path in folder.iterdir() if path.name != "stack.build"}
    assert {"README.md", "stack.yaml", "stack.lock"} < names
    assert len((folder / "README.md").read_text().splitlines()) <= 14
    [program] = [path for path in folder.iterdir() if path.suffix in (".py", ".ipynb")]
    lines = program.read_text().splitlines()
    if program.suffix == ".ipynb":
        cells = json.loads(program.read_text())["cells"]
        lines = "".join("".join([*cell["source"], "\n"]) for cell in cells).splitlines()
        # As written, without what a run has left in it.
        assert not any(cell.get("outputs") for cell in cells)
    assert 20 <= len(lines) <= 80
    # It would name the index that the lock was made with.
    ignored = subprocess.run(
        ["git", "check-ignore", "-q", folder / "stack.lock/pylock.toml"],
        cwd=REPOSITORY,
        check=False,
    )
    assert ignored.returncode == 0
    assert json.loads((folder / "stack.lock/files.json").read_text())
