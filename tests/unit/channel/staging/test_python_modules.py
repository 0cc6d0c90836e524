from __future__ import annotations

import importlib.metadata
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel.assemble import recipe_hash
from stacks.channel.recipe import read_recipe
from stacks.channel.staging import python_modules
from stacks.core.workspace import Workspace
from stacks.variants.variant import ACCELERATOR, SCAN_FIX
from unit.helpers.staging import make_context


def test_own_sources_become_modules(tmp_path: Path) -> None:
    sources = tmp_path / "recipes/a/src"
    sources.mkdir(parents=True)
    (sources / "a.py").write_text("import b\n")
    (sources / "a.pth").write_text("import a\n")
    (sources / "LICENSE-a").write_text("BSD")
    context = make_context(tmp_path, {"stage": "python-modules"}, [], {})
    recipe = context.recipe.model_copy(update={"recipes": tmp_path / "recipes"})
    before = recipe_hash(recipe, ())
    # What Python writes there when a test or `bench --fix-scan` imports them is left out.
    for bytecode in (sources / "a.pyc", sources / "__pycache__/a.cpython-39.pyc"):
        bytecode.parent.mkdir(exist_ok=True)
        bytecode.write_bytes(b"bytecode")
    python_modules.stage(replace(context, recipe=recipe))
    folder = context.root / "site-packages"
    files = sorted(path.name for path in folder.iterdir())
    assert files == ["a-1.dist-info", "a.pth", "a.py"]
    distribution = importlib.metadata.PathDistribution(folder / "a-1.dist-info")
    assert (distribution.metadata["Name"], distribution.version) == ("a", "1")
    assert distribution.read_text("INSTALLER") == "conda\n"
    record = (distribution.read_text("RECORD") or "").splitlines()
    assert [line.split(",")[0] for line in record] == [
        "../../../share/licenses/a/LICENSE-a",
        "a-1.dist-info/INSTALLER",
        "a-1.dist-info/METADATA",
        "a-1.dist-info/RECORD",
        "a.pth",
        "a.py",
    ]
    assert (context.licences / "LICENSE-a").read_text() == "BSD"
    assert not (context.root / "site-packages/LICENSE-a").exists()
    assert (context.root / "site-packages/a.py").read_text() == "import b\n"
    assert recipe_hash(recipe, ()) == before


@pytest.mark.parametrize("name", [ACCELERATOR, SCAN_FIX])
def test_accelerator_serves_every_python(workspace: Workspace, name: str) -> None:
    recipe = read_recipe(workspace.recipes, name)
    assert (recipe.package.name, recipe.subdir) == (name, "noarch")
    needs = (SCAN_FIX,) if name == ACCELERATOR else ()
    assert recipe.requirements.run == ("python", *needs)
    assert recipe.own_sources()[0].parent == workspace.recipes / name / "src"
