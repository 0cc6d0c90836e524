"""The committed JSON schemas are the models', and take what the models take."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.project import schemas
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
    files = schemas.schemas(replace(workspace, root=tmp_path))
    schemas.write(files)
    schemas.check(files, "schema")
    (tmp_path / "envs/blas.schema.json").write_text("{}\n")
    (tmp_path / "envs/variant.schema.json").unlink()
    with pytest.raises(StaleError) as caught:
        schemas.check(files, "schema")
    assert str(caught.value) == (
        "envs/blas.schema.json, envs/variant.schema.json: not what the code gives\n"
        "  fix:      ./invoke schema, then commit the files"
    )


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_the_projects_files_satisfy_the_schemas(path: Path) -> None:
    jsonschema.validate(content(path), json.loads(schema_beside(path).read_text()))
