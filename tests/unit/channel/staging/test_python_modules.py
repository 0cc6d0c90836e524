from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.assemble import inputs_hash
from stacks.channel.recipe import RECIPES, read_recipes
from stacks.channel.staging import python_modules
from stacks.variants.variant import ACCELERATOR, SCAN_FIX
from unit.helpers.staging import work


def test_own_sources_become_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tmp_path / "recipes/a/src"
    sources.mkdir(parents=True)
    monkeypatch.setattr("stacks.channel.recipe.RECIPES", tmp_path / "recipes")
    (sources / "a.py").write_text("import b\n")
    (sources / "a.pth").write_text("import a\n")
    made = work(tmp_path, {"stage": "python-modules"}, {})
    before = inputs_hash(made.recipe, ())
    # What Python writes there when a test or `bench --fix-scan` imports them is left out.
    for bytecode in (sources / "a.pyc", sources / "__pycache__/a.cpython-39.pyc"):
        bytecode.parent.mkdir(exist_ok=True)
        bytecode.write_bytes(b"bytecode")
    python_modules.stage(made)
    written = sorted(path.relative_to(made.root) for path in made.root.rglob("*.*"))
    assert [str(path) for path in written] == ["site-packages/a.pth", "site-packages/a.py"]
    assert (made.root / "site-packages/a.py").read_text() == "import b\n"
    assert inputs_hash(made.recipe, ()) == before


@pytest.mark.parametrize("name", [ACCELERATOR, SCAN_FIX])
def test_accelerator_serves_every_python(name: str) -> None:
    recipe = read_recipes()[name]
    assert (recipe.package.name, recipe.subdir) == (name, "noarch")
    assert recipe.requirements.run == ("python",)
    assert recipe.own_sources()[0].parent == RECIPES / name / "src"
