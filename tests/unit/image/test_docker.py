"""What is made of the lines that builders print, and of the report of a verification."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import pytest

from stacks.core.errors import VerifyError
from stacks.core.workspace import Workspace
from stacks.image import docker
from stacks.image.docker import _BuildLog
from stacks.variants.load import load_variant

OLDER_BUILDER = """\
Sending build context to Docker daemon  395.4MB
Step 1/12 : ARG BASE=theano-stacks-base:fef8ec9ee684
Step 2/12 : FROM ${BASE}
 ---> 3a92342d75dd
Step 3/12 : ARG BASE
 ---> Using cache
 ---> 0742be6e898c
Step 4/12 : ADD packages.tar /
 ---> 440c39d36ce0
Step 5/12 : ADD blas.tar /
"""
BUILDKIT = """\
#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 1.78kB done
#4 [1/5] FROM docker.io/library/theano-stacks-base:fef8ec9ee684
#6 [2/5] ADD packages.tar /
#6 DONE 3.2s
#7 [3/5] ADD blas.tar /
"""
PODMAN = """\
STEP 1/11: FROM theano-stacks-base:7c8fcdfb94d0
STEP 2/11: ARG BASE
--> Using cache 0742be6e898cdfb94d007c8f0742be6e898cdfb94d007c8f0742be6e898cdfb9
--> 0742be6e898
STEP 3/11: ADD packages.tar /
--> 440c39d36ce
STEP 4/11: ADD blas.tar /
"""


@pytest.mark.parametrize(
    ("output", "message", "images", "new"),
    [
        (
            OLDER_BUILDER,
            ["4/12   ADD packages.tar /", "5/12   ADD blas.tar /"],
            ["3a92342d75dd", "0742be6e898c", "440c39d36ce0"],
            ["440c39d36ce0"],
        ),
        (BUILDKIT, ["2/5    ADD packages.tar /", "3/5    ADD blas.tar /"], [], []),
        (
            PODMAN,
            ["3/11   ADD packages.tar /", "4/11   ADD blas.tar /"],
            ["0742be6e898", "440c39d36ce"],
            ["440c39d36ce"],
        ),
    ],
)
def test_the_steps_of_each_builder(
    output: str,
    message: list[str],
    images: list[str],
    new: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = _BuildLog()
    for line in output.splitlines():
        progress.add(line)
    assert [line.strip() for line in capsys.readouterr().err.splitlines()][-2:] == message
    assert (progress.images, progress.new) == (images, new)
    assert progress.in_step


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
