"""The JSON schemas take what the models take; a folder that no site replaces."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.project import documentation
from unit.helpers.checkout import CHECKOUT

FILES = sorted(CHECKOUT.envs.glob("*/*.yaml"))


def content(path: Path) -> Any:
    yaml: Any = YAML(typ="safe", pure=True)
    return yaml.load(path)


def schema_beside(path: Path) -> Path:
    head = "# yaml-language-server: $schema="
    line = path.read_text().splitlines()[0]
    assert line.startswith(head)
    return path.parent / line.removeprefix(head)


def test_stale_and_missing_files_are_named(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = documentation.schemas(replace(workspace, root=tmp_path))
    documentation.write_files(files)
    documentation.check_files(files, "schema")
    (tmp_path / "envs/blas.schema.json").write_text("{}\n")
    (tmp_path / "envs/variant.schema.json").unlink()
    with pytest.raises(StaleError) as caught:
        documentation.check_files(files, "schema")
    assert str(caught.value) == (
        "envs/blas.schema.json, envs/variant.schema.json: not what the code gives\n"
        "  fix:      ./invoke schema, then commit the files"
    )


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_the_projects_files_satisfy_the_schemas(path: Path) -> None:
    jsonschema.validate(content(path), json.loads(schema_beside(path).read_text()))


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="is there and is no site that this command wrote"):
        documentation.build_site(Workspace(tmp_path, tmp_path), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
