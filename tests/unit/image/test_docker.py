"""What is made of the lines that builders print, and of the report of a verification."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import pytest

from stacks.core.errors import VerifyError
from stacks.core.workspace import Workspace
from stacks.environments.verify import PASSED as PASSES
from stacks.image import docker, layout
from stacks.image import engine as engines
from stacks.variants.load import load_variant

PASS, FAIL = ({"name": "x", "status": status} for status in ("pass", "fail"))
PASSED, FAILED = {"ok": True, "checks": [PASS]}, {"ok": False, "checks": [FAIL]}


def verify(
    workspace: Workspace, folder: Path, status: int, output: str, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Verify an image whose entry program prints this and ends so; the report before is "{}"."""

    class Engine:
        def attach(self, *arguments: str, output: IO[bytes]) -> int:
            output.write(text)
            return status

    text, engine, variant = output.encode(), Engine(), load_variant(workspace, "openblas")
    report = docker.report_path(workspace, variant)
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    monkeypatch.setattr(docker, "_container", lambda engine: nullcontext("name"))
    door: Any = engine
    return docker.verify(
        workspace, door, "x", variant, full=False, json_file=folder / "report.json"
    )


@pytest.mark.parametrize(
    ("status", "output", "found", "exit_code"),
    [
        (0, "", "exit status 0 and no report", 2),
        (0, "{}", "exit status 0 and no report", 2),
        (0, "not JSON", "exit status 0 and no report", 2),
        (0, json.dumps({"ok": True, "checks": []}), "exit status 0 and no report", 2),
        (0, json.dumps(FAILED), "exit status 0 and a report of a failure", 2),
        (1, "", "exit status 1 and no report", 1),
        (1, json.dumps(PASSED), "exit status 1 and a report without failures", 1),
        (3, "", "exit status 3 and no report", 2),
        (3, json.dumps(FAILED), "exit status 3 and a report of a failure", 2),
    ],
)
def test_an_image_that_does_not_verify_never_passes(
    status: int,
    output: str,
    found: str,
    exit_code: int,
    own_workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(VerifyError, match="openblas could not be verified") as caught:
        verify(own_workspace, tmp_path, status, output, monkeypatch)
    assert (caught.value.found, caught.value.exit_code) == (found, exit_code)
    report = docker.report_path(own_workspace, load_variant(own_workspace, "openblas"))
    assert report.read_text() == "{}" and not (tmp_path / "report.json").exists()


@pytest.mark.parametrize(("status", "content"), [(0, PASSED), (3, PASSED), (1, FAILED)])
def test_the_report_of_an_image_that_agrees_is_stored(
    status: int,
    content: object,
    own_workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failure = pytest.raises(VerifyError, match="failed") if status == 1 else nullcontext()
    with failure:
        done = verify(own_workspace, tmp_path, status, json.dumps(content), monkeypatch)
        assert done == status
    report = docker.report_path(own_workspace, load_variant(own_workspace, "openblas"))
    for path in (report, tmp_path / "report.json"):
        assert json.loads(path.read_text()) == content


def test_an_image_on_another_base_is_built_again_once_that_base_changes(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = {"debian:12": "sha256:old"}
    built: list[str] = []

    class Engine:
        def image_id(self, name: str) -> str | None:
            return images.get(name)

        def call(self, command: str, image: str, name: str) -> None:
            images[name] = image

    def build(*_: object) -> str:
        built.append(images["debian:12"])
        return f"sha256:{len(built)}"

    (tmp_path / "ready.json").write_text(json.dumps({"key": "of the layers"}))
    layers = (layout.Layer("packages", tmp_path / "packages"),)
    monkeypatch.setattr(engines, "find", Engine)
    monkeypatch.setattr(layout, "lay_out", lambda *_: layers)
    monkeypatch.setattr(docker, "_context", lambda *_: nullcontext((tmp_path, {})))
    monkeypatch.setattr(docker, "_build", build)
    monkeypatch.setattr(docker, "check", lambda *_: None)
    monkeypatch.setattr(docker, "verify", lambda *_, **__: PASSES)
    variant = load_variant(own_workspace, "openblas")
    for base in ("sha256:old", "sha256:old", "sha256:new", "sha256:new"):
        images["debian:12"] = base
        docker.build(own_workspace, variant, base_name="debian:12")
    assert built == ["sha256:old", "sha256:new"]
