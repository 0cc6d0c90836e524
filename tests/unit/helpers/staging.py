"""What the tests of stages share."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from stacks.channel.recipe import Recipe
from stacks.channel.staging.build_context import Work


def work(tmp_path: Path, extra: dict[str, Any], files: dict[str, str]) -> Work:
    """Give a package in the making whose one source is a wheel with these files."""
    name = "a-1-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        for member, text in files.items():
            archive.writestr(member, text)
    recipe = {
        "package": {"name": "a", "version": "1"},
        "source": [{"project": "a", "version": "1", "file": name}],
        "about": {"license": "MIT", "summary": "a"},
        "extra": extra,
    }
    for folder in ("root", "scratch"):
        (tmp_path / folder).mkdir()
    return Work(
        Recipe.model_validate_json(json.dumps(recipe)),
        {name: tmp_path / name},
        tmp_path / "root",
        tmp_path / "scratch",
        tmp_path / "tools",
    )
