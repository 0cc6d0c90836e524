from __future__ import annotations

from pathlib import Path

from stacks.channel.staging.own_files import copy_own_licences, own_code
from unit.helpers.staging import make_context, tree


def test_code_and_licences_are_told_apart_by_their_names(tmp_path: Path) -> None:
    sources = tmp_path / "recipes/a/src"
    (sources / "upstream").mkdir(parents=True)
    for name in ("a.py", "LICENSE-a", "upstream/LICENSE-b", "upstream/b.py"):
        (sources / name).write_text(name)
    context = make_context(tmp_path, {"stage": "python-modules"}, [], {})
    assert [path.name for path in own_code(context)] == ["a.py", "b.py"]
    copy_own_licences(context)
    assert tree(context.root) == ["share/licenses/a/LICENSE-a", "share/licenses/a/LICENSE-b"]


def test_of_a_wheels_recipe_only_the_named_licence_is_its_own(tmp_path: Path) -> None:
    """All versions of a package share the folder."""
    sources = tmp_path / "recipes/a/src"
    sources.mkdir(parents=True)
    for name in ("LICENSE-a-1", "LICENSE-a-2"):
        (sources / name).write_text(name)
    extra = {
        "stage": "relinked-wheel",
        "site_packages": "lib",
        "replaces": "libopenblas.so",
        "licences": ["LICENSE-a-2"],
    }
    context = make_context(tmp_path, extra, [], {})
    copy_own_licences(context)
    assert tree(context.root) == ["share/licenses/a/LICENSE-a-2"]
