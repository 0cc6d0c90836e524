from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import assemble
from stacks.channel.build_context import Build, BuildContext
from stacks.channel.recipe import Recipe, read_recipes
from stacks.channel.staging.libraries import Libraries
from stacks.channel.staging.python_sources import Sdist
from stacks.channel.staging.relinked_wheel import RelinkedWheel
from stacks.channel.staging.stage import Stage
from stacks.channel.staging.wheel import Wheel
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.pins import IndexPin
from unit.helpers.serving import sha256
from unit.helpers.staging import written_by

DATA = {
    "package": {"name": "small", "version": "1.0"},
    "build": {"label": "py", "noarch": "python", "number": 3},
    "source": [{"project": "small", "version": "1.0", "file": "small-1.0.whl"}],
    "about": {"license": "MIT", "summary": "small", "republish": "yes"},
    "extra": {"stage": "wheel"},
}
PIN = IndexPin(
    name="small", version="1.0", filename="small-1.0.whl", size=7, sha256=sha256(b"a wheel")
)


@pytest.fixture
def recipe() -> Recipe:
    return Recipe.model_validate_json(json.dumps(DATA))


def test_the_build_string_has_label_hash_and_number(recipe: Recipe) -> None:
    inputs = "0123456789abcdef" * 4
    assert assemble.build_string(recipe, inputs) == "pyh0123456_3"
    assert assemble.file_name(recipe, inputs) == "small-1.0-pyh0123456_3.conda"


def test_the_recipe_hash_follows_from_recipe_pins_and_tools(recipe: Recipe) -> None:
    hashes = {
        assemble.recipe_hash(recipe, [PIN]),
        assemble.recipe_hash(recipe, [replace(PIN, sha256="0" * 64)]),
        assemble.recipe_hash(recipe.model_copy(update={"build": Build(number=4)}), [PIN]),
        assemble.recipe_hash(recipe, [PIN], ["0" * 64]),
    }
    assert len(hashes) == 4
    assert assemble.recipe_hash(recipe, [PIN]) in hashes


def test_the_recipe_hash_follows_from_the_projects_own_sources_and_their_paths(
    workspace: Workspace, tmp_path: Path
) -> None:
    committed = read_recipes(workspace.recipes)["blas-threads-openblas"]
    recipe = committed.model_copy(update={"recipes": tmp_path})
    folder = recipe.src
    hashes = set()
    for name, text in (("a.h", "1"), ("a.h", "2"), ("inner/a.h", "2"), ("a/inner.h", "2")):
        shutil.rmtree(folder, ignore_errors=True)
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
        hashes.add(assemble.recipe_hash(recipe, ()))
    assert len(hashes) == 4


def test_an_edit_of_the_code_renames_nothing_and_asks_for_another_build(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = assemble.recipe_hash(recipe, [PIN])
    key = assemble.cache_key(recipe, digest)
    monkeypatch.setattr(assemble, "_code_hash", lambda stage: "edited")
    assert assemble.recipe_hash(recipe, [PIN]) == digest
    assert assemble.cache_key(recipe, digest) != key


def test_a_raised_revision_renames_the_packages_of_its_stage_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names() -> dict[str, str]:
        return {
            name: assemble.recipe_hash(each, ())
            for name, each in read_recipes(workspace.recipes).items()
        }

    before = names()
    monkeypatch.setattr(RelinkedWheel, "revision", 2)
    recipes = read_recipes(workspace.recipes).items()
    changed = {name for name, digest in names().items() if digest != before[name]}
    assert changed == {name for name, each in recipes if isinstance(each.extra, RelinkedWheel)}
    assert changed


def test_a_new_option_of_a_stage_with_a_default_renames_nothing(recipe: Recipe) -> None:
    class Longer(Wheel):
        option: str = "as before"

    longer = recipe.model_copy(update={"extra": Longer(stage="wheel")})
    assert assemble.recipe_hash(longer, [PIN]) == assemble.recipe_hash(recipe, [PIN])


def test_the_code_of_a_stage_is_its_module_and_what_that_imports() -> None:
    def names(stage: type[Stage]) -> list[str]:
        return [path.stem for path in assemble.code_of(stage)]

    shared = {"debian", "dist_info", "elf", "stage", "tree"}
    assert names(Libraries) == sorted(shared | {"libraries"})
    assert names(Sdist) == sorted(shared | {"python_sources", "wheel"})
    assert names(RelinkedWheel) == sorted(shared | {"relinked_wheel", "shortened_elf", "wheel"})


def test_the_key_covers_the_code_that_unpacks_and_packs() -> None:
    names = [Path(file).name for file in assemble.DECIDING]
    shared = ["archives.py", "unpack.py", "links.py", "reproducible.py"]
    assert names == ["build_context.py", *shared, "assemble.py"]


LINKS = {"liba.so": "liba.so.1"}


def test_a_link_to_another_package_is_packed_and_a_broken_one_refused(
    recipe: Recipe, tmp_path: Path
) -> None:
    def folder(context: BuildContext) -> None:
        context.lib.mkdir()

    def link(context: BuildContext) -> None:
        folder(context)
        (context.lib / "liba.so").symlink_to("liba.so.1")

    path = assemble.assemble(written_by(recipe, folder, links=LINKS), "0" * 64, {}, tmp_path)
    assert path.name == "small-1.0-pyh0000000_3.conda"
    with pytest.raises(IntegrityError, match=r"lib/liba\.so: a link to nothing"):
        assemble.assemble(written_by(recipe, link), "0" * 64, {}, tmp_path)


@pytest.mark.parametrize("target", ["../../../outside", "/OUTSIDE", "../../{name}/lib/a"])
def test_a_link_out_of_the_package_is_refused_and_not_touched(
    recipe: Recipe, target: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"

    def write(context: BuildContext) -> None:
        context.lib.mkdir()
        text = target.replace("/OUTSIDE", str(outside)).format(name=context.root.name)
        (context.lib / "libb.so").symlink_to(text)

    linking = written_by(recipe, write, links=LINKS)
    with pytest.raises(IntegrityError, match=r"small 1\.0: lib/libb\.so: the link leads out"):
        assemble.assemble(linking, "0" * 64, {}, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (lambda root: (root / "missing").read_text(), "No such file or directory: 'root/missing'"),
        (lambda root: (root / ".").read_bytes(), "Is a directory"),
        (lambda root: root.mkdir(), "File exists: 'root'"),
        (lambda root: b"\xe9".decode(), "can't decode byte 0xe9"),
    ],
)
def test_sources_of_another_layout_are_named_without_a_traceback(
    recipe: Recipe, fault: Callable[[Path], None], found: str, tmp_path: Path
) -> None:
    message = r"small 1\.0: its sources have other files than the stage wheel expects"
    with pytest.raises(IntegrityError, match=message) as caught:
        faulty = written_by(recipe, lambda context: fault(context.root))
        assemble.assemble(faulty, "0" * 64, {}, tmp_path)
    assert found in str(caught.value.found)


def test_a_full_disk_is_no_fault_of_the_sources(recipe: Recipe, tmp_path: Path) -> None:
    def write(context: BuildContext) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        assemble.assemble(written_by(recipe, write), "0" * 64, {}, tmp_path)
