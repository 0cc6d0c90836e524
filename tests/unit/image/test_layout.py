from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY, fixed_umask
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.make import packages
from stacks.image import config as image_config
from stacks.image import docker, layout, precompiled
from stacks.locks.lock import Lock
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

LOCK = Lock(packages=(), requirements=())


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas", "theano-1.0.5")


def test_modules_are_those_of_the_package_that_layout_imports() -> None:
    program = "import json, sys, stacks.image.layout; print(json.dumps(list(sys.modules)))"
    output = subprocess.check_output([sys.executable, "-c", program], cwd=REPOSITORY)
    imported = {name for name in json.loads(output) if name.startswith("stacks.image.")}
    assert {module.__name__ for module in layout.MODULES} == imported - {layout.__name__}


@pytest.fixture
def copy(tmp_path: Path) -> Workspace:
    """Give a workspace with a copy of the verification suite."""
    root = tmp_path / "copy"
    for name in ("docker", "envs", "recipes"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(REPOSITORY / name)
    shutil.copytree(REPOSITORY / "verify", root / "verify")
    return Workspace(root, tmp_path / "cache")


@pytest.mark.parametrize("name", ["cli.py", "workloads/networks.py", "blas/peak.c"])
def test_key_changes_with_a_file_of_the_suite(copy: Workspace, variant: Variant, name: str) -> None:
    before = layout.key_of(copy, variant, LOCK)
    with (copy.suite / name).open("a") as file:
        file.write("\n")
    assert layout.key_of(copy, variant, LOCK) != before


@pytest.mark.parametrize("name", ["ruff.toml", "workloads/__pycache__/lstm.pyc", ".cache/x.py"])
def test_key_ignores_a_file_that_is_not_copied(
    copy: Workspace, variant: Variant, name: str
) -> None:
    before = layout.key_of(copy, variant, LOCK)
    (copy.suite / name).parent.mkdir(exist_ok=True)
    (copy.suite / name).write_text("changed")
    assert layout.key_of(copy, variant, LOCK) == before


def test_the_image_gets_the_files_of_the_suite_that_the_key_covers(
    copy: Workspace, variant: Variant, tmp_path: Path
) -> None:
    config = image_config.config_of(copy, variant)
    layout._add_programs(tmp_path / "root", variant, config, copy.suite)
    copied = tmp_path / "root" / layout.SHARE[1:] / "verify"
    names = [path.relative_to(copied) for path in copied.rglob("*") if path.is_file()]
    assert sorted(names) == layout._files(copy.suite)
    assert Path("workloads/networks.py") in names


SUMMARY = """Alice's "model" for $5 `id` $(id) \\n %s {module} END ü"""


@pytest.mark.parametrize(
    "command", [["sh", image_config.ENTRY, "help"], ["bash", f"{layout.SHARE}/bashrc"]]
)
def test_an_image_shows_its_summary_as_it_is_written(
    workspace: Workspace, variant: Variant, tmp_path: Path, command: list[str]
) -> None:
    variant = variant.model_copy(update={"summary": SUMMARY})
    config = image_config.config_of(workspace, variant)
    layout._add_programs(tmp_path, variant, config, workspace.suite)
    program, path, *arguments = command
    done = subprocess.run(
        [program, f"{tmp_path}{path}", *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    heading, *lines = done.stdout.splitlines()
    assert heading == f"theano-openblas: {SUMMARY}, on {variant.framework.summary}"
    assert "{" not in "".join(lines)


def test_files_of_the_suite_have_one_mode_whatever_the_checkouts_is(
    copy: Workspace, variant: Variant, tmp_path: Path
) -> None:
    (copy.suite / "cli.py").chmod(0o444)
    (copy.suite / "suite.py").chmod(0o755)
    config = image_config.config_of(copy, variant)
    with fixed_umask():
        layout._add_programs(tmp_path / "root", variant, config, copy.suite)
    copied = (tmp_path / "root" / layout.SHARE[1:] / "verify").rglob("*.py")
    assert {path.stat().st_mode & 0o777 for path in copied} == {0o644}


def test_layers_whose_modes_have_changed_are_made_again(
    own_workspace: Workspace, variant: Variant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def make(*arguments: object) -> None:
        made.append(arguments)
        folder = Path(str(arguments[4])) / "packages/lib"
        folder.mkdir(parents=True)
        (folder / "file").touch(mode=0o444)

    monkeypatch.setattr(pipeline, "read_lock", lambda *_: LOCK)
    monkeypatch.setattr(packages, "parts_of", lambda *_: [])
    monkeypatch.setattr(precompiled, "check_machine", lambda: None)
    monkeypatch.setattr(layout, "_make", make)
    target = tmp_path / "layers"
    for harm in (
        lambda: (target / "packages/lib/file").chmod(0o644),
        lambda: (target / "packages/lib").chmod(0o700),
        lambda: (target / "manifest.json").write_text('{"lib/file": "0123"}'),
        lambda: None,
    ):
        layout.lay_out(own_workspace, variant, target)
        count = len(made)
        layout.lay_out(own_workspace, variant, target)
        assert len(made) == count
        harm()
    layout.lay_out(own_workspace, variant, target)
    assert len(made) == 4
    assert (target / "packages/lib/file").stat().st_mode & 0o777 == 0o444


def test_the_image_of_a_stack_lies_beside_it(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text("summary: mine\nextends: openblas\nframework: theano-1.0.5\n")
    variant = load_variant(workspace, str(file))
    assert layout.layout_folder(workspace, variant) == tmp_path / "small.build/image"
    beside = layout.path_beside(workspace, variant, "context")
    assert beside == tmp_path / "small.build/image.context"
    report = docker.report_path(workspace, variant)
    assert report == tmp_path / "small.build/image.report.json"
