from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from stacks.channel import assemble, package
from stacks.channel.recipe import Build, Recipe
from stacks.channel.staging import STAGES
from stacks.channel.staging.build_context import Work
from stacks.core.disk import DiskError
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path
from stacks.sources.pins import IndexPin, Pins
from unit.helpers.serving import sha256

DATA = {
    "package": {"name": "small", "version": "1.0"},
    "build": {"label": "py", "noarch": "python", "number": 3},
    "source": [{"project": "small", "version": "1.0", "file": "small-1.0.whl"}],
    "about": {"license": "MIT", "summary": "small"},
    "extra": {"stage": "wheel"},
}
BODY = b"a wheel"
PIN = IndexPin(
    name="small", version="1.0", filename="small-1.0.whl", size=len(BODY), sha256=sha256(BODY)
)
PINS = Pins(files=(PIN,))


@pytest.fixture
def recipe() -> Recipe:
    return Recipe.model_validate_json(json.dumps(DATA))


@pytest.fixture
def staged(workspace: Workspace, room: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a cache with the source; the stage writes a program, a text and a link."""

    def stage(work: Work) -> None:
        (work.root / "site-packages/.hidden").mkdir(parents=True)
        (work.root / "site-packages/.hidden/small.py").write_bytes(
            work.sources["small-1.0.whl"].read_bytes()
        )
        program = work.root / "python-scripts/small"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)
        (work.root / "python-scripts/link").symlink_to("small")

    monkeypatch.setitem(STAGES, "wheel", stage)
    monkeypatch.setattr(assemble, "_code_hash", lambda stage: "0")
    source = cached_path(workspace, PIN)
    source.parent.mkdir(parents=True)
    source.write_bytes(BODY)
    return room


def test_names(recipe: Recipe) -> None:
    inputs = "0123456789abcdef" * 4
    assert assemble.build_string(recipe, inputs) == "pyh0123456_3"
    assert assemble.file_name(recipe, inputs) == "small-1.0-pyh0123456_3.conda"


def test_what_decides_the_inputs(recipe: Recipe) -> None:
    one = assemble.inputs_hash(recipe, [PIN])
    assert one == assemble.inputs_hash(recipe, [PIN])
    other_pin = PIN.__class__(**{**PIN.__dict__, "sha256": "0" * 64})
    other_recipe = recipe.model_copy(update={"build": Build(number=4)})
    assert len({one, assemble.inputs_hash(recipe, [other_pin]),
                assemble.inputs_hash(other_recipe, [PIN])}) == 3  # fmt: skip


def test_a_built_package_is_taken_from_the_cache(
    workspace: Workspace, recipe: Recipe, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = package.build(workspace, recipe, PINS)
    assert sha256(built.path.read_bytes()) == built.sha256
    assert built.size == built.path.stat().st_size
    monkeypatch.setattr(assemble, "assemble", None)
    assert package.build(workspace, recipe, PINS) == built


def test_the_bytes_depend_on_nothing_else(
    workspace: Workspace, recipe: Recipe, staged: Path
) -> None:
    first = package.build(workspace, recipe, PINS)
    shutil.rmtree(first.path.parent)
    before = os.umask(0o077)
    try:
        assert package.build(workspace, recipe, PINS).sha256 == first.sha256
    finally:
        os.umask(before)


@pytest.mark.parametrize("damage", ["flip", "no json", "other json", "missing", "no description"])
def test_a_damaged_package_is_built_again(
    workspace: Workspace,
    damage: str,
    recipe: Recipe,
    staged: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    built = package.build(workspace, recipe, PINS)
    description = built.path.parent / "built.json"
    if damage == "flip":
        built.path.write_bytes(built.path.read_bytes()[:-1] + b"x")
    elif damage == "missing":
        built.path.unlink()
    elif damage == "no description":
        description.unlink()
    else:
        description.write_text("{" if damage == "no json" else '{"other": 1}')
    assert package.cached(workspace, recipe, assemble.inputs_hash(recipe, [PIN])) is None
    assert package.build(workspace, recipe, PINS) == built
    assert sha256(built.path.read_bytes()) == built.sha256
    assert "damaged in the cache; building it again" in capsys.readouterr().err


def test_a_package_that_cannot_be_read_is_told(
    workspace: Workspace, recipe: Recipe, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = package.build(workspace, recipe, PINS)

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DiskError, match=rf"(?s){built.path.parent}.*THEANO_STACKS_CACHE"):
        package.cached(workspace, recipe, assemble.inputs_hash(recipe, [PIN]))


def test_a_stage_that_fails_leaves_nothing(
    workspace: Workspace, recipe: Recipe, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stage(work: Work) -> None:
        (work.root / "link").symlink_to("nowhere")

    monkeypatch.setitem(STAGES, "wheel", stage)
    with pytest.raises(IntegrityError, match=r"(?s)link: a link to nothing.*nowhere"):
        package.build(workspace, recipe, PINS)
    assert not list((staged / "cache/packages").glob("[!.]*"))
    assert not list((staged / "cache/packages").glob("*.part"))


def test_the_code_of_a_stage_is_its_module_and_what_that_imports() -> None:
    def names(stage: str) -> list[str]:
        return [path.name for path in assemble.code_of(stage)]

    assert names("libraries") == ["build_context.py", "debian.py", "elf.py", "libraries.py"]
    assert names("sdist") == ["build_context.py", "wheel.py"]
    assert names("relinked-wheel") == [
        "build_context.py",
        "elf.py",
        "relinked_wheel.py",
        "replace_text.py",
        "wheel.py",
    ]
