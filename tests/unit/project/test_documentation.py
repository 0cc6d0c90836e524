"""The JSON schemas take what the models take; a folder that no site replaces."""

import json
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from stacks.core.disk import REPOSITORY
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.project import documentation
from unit.helpers.checkout import CHECKOUT

FILES = sorted(CHECKOUT.envs.glob("*/*.yaml"))


def content(path: Path) -> Any:
    yaml: Any = YAML(typ="safe", pure=True)
    return yaml.load(path)


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
    start = "# yaml-language-server: $schema="
    line = path.read_text().splitlines()[0]
    assert line.startswith(start)
    schema = (path.parent / line.removeprefix(start)).read_text()
    jsonschema.validate(content(path), json.loads(schema))


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="is there and is no site that this command wrote"):
        documentation.build_site(Workspace(tmp_path, tmp_path), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


pytest.importorskip("tomllib")
TOOL = runpy.run_path(str(REPOSITORY / ".ci/lock_tools.py"))
WHOLE = """\
both==1 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
early==2 \\
    --hash=sha256:cc
winpty==3 ; sys_platform == 'win32' \\
    --hash=sha256:dd
old==4 ; python_full_version < '3.11' \\
    --hash=sha256:ee
"""


@pytest.mark.parametrize(
    ("wheel", "expected"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
        ("a-1-cp39-abi3-manylinux_2_28_aarch64.whl", True),
        ("a-1-py3-none-manylinux_2_17_x86_64.whl", True),
        ("a-1-cp39-cp39-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp312-cp312-musllinux_1_2_x86_64.whl", False),
        ("a-1-cp312-cp312-macosx_11_0_arm64.whl", False),
    ],
)
def test_wheels_for_cpython_on_linux_are_kept(wheel: str, expected: bool) -> None:
    assert TOOL["is_installable"](wheel) == expected


def test_a_lock_keeps_what_is_installed_and_what_no_earlier_lock_has() -> None:
    text = TOOL["reduced"](WHOLE, {"bb", "cc", "ee"}, {"early==2"})
    assert text == (
        "both==1 \\\n    --hash=sha256:bb\n"
        "old==4 ; python_full_version < '3.11' \\\n    --hash=sha256:ee\n"
    )
    with pytest.raises(SystemExit, match="both==1: no wheel for CPython on Linux"):
        TOOL["reduced"](WHOLE, {"cc", "ee"}, set())
    # As in the committed locks.
    for lock, (_, earlier) in TOOL["LOCKS"].items():
        names = TOOL["names_in"]((REPOSITORY / lock).read_text())
        for other in earlier:
            assert names.isdisjoint(TOOL["names_in"]((REPOSITORY / other).read_text()))
