"""What becomes of a verification that ends without a report: where a library hangs, for one."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import VerifyError
from stacks.core.workspace import Workspace
from stacks.environments import reports
from stacks.environments import verify as verification
from stacks.image import docker
from stacks.variants.variant import Variant, load_variant


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    return own_workspace


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas")


@pytest.fixture
def kept(workspace: Workspace, variant: Variant) -> Path:
    """Give the report of an earlier verification."""
    path = reports.report_path(workspace, variant)
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    return path


def test_of_an_environment(
    workspace: Workspace, variant: Variant, kept: Path, tmp_path: Path
) -> None:
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(VerifyError, match="/openblas could not be verified") as caught:
        verification.verify_variant(
            workspace, variant, tmp_path, json_file=tmp_path / "report.json"
        )
    assert caught.value.exit_code == 1 and "the table above has a fix" in str(caught.value.fix)
    assert kept.read_text() == "{}" and not (tmp_path / "report.json").exists()


def test_of_an_image(
    workspace: Workspace,
    variant: Variant,
    kept: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Engine:
        def attach(self, *arguments: str, output: Any) -> int:
            return 1

    report = docker.report_path(workspace, variant)
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    monkeypatch.setattr(docker, "_container", lambda engine: nullcontext("name"))
    engine: Any = Engine()
    with pytest.raises(VerifyError, match="openblas wrote no report") as caught:
        docker.verify(
            workspace, engine, "x", variant, full=False, json_file=tmp_path / "report.json"
        )
    assert caught.value.exit_code == 1
    assert report.read_text() == "{}" and not (tmp_path / "report.json").exists()
