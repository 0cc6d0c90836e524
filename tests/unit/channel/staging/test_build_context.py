from __future__ import annotations

from pathlib import Path

from unit.helpers.staging import WHEEL, deb_context, wheel_context

LIBRARIES = {"stage": "libraries"}


def test_files_are_those_of_the_package_index(tmp_path: Path) -> None:
    context = wheel_context(tmp_path, LIBRARIES, {"x": ""})
    assert (context.files, context.debs) == ([tmp_path / WHEEL], [])


def test_debs_are_named_in_the_recipes_order(tmp_path: Path) -> None:
    context = deb_context(tmp_path, LIBRARIES, {"usr/x": b""})
    assert (context.files, context.debs) == ([], ["liba"])
    assert context.licences == tmp_path / "root/share/licenses/a"
