"""The verification of an image in its container, which an engine reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

import pytest

from stacks.core.errors import VerifyError
from stacks.core.workspace import Workspace
from stacks.image import docker
from stacks.variants.load import load_variant

PASS, FAIL = ({"name": "x", "status": status} for status in ("pass", "fail"))
PASSED, FAILED = {"ok": True, "checks": [PASS]}, {"ok": False, "checks": [FAIL]}


class Ended:
    """An engine whose containers print this and end so."""

    def __init__(self, status: int, output: str) -> None:
        self.status, self.output = status, output

    @contextmanager
    def container(self, image: str, command: Sequence[str]) -> Iterator[Ended]:
        yield self

    def run(self, output: IO[bytes]) -> int:
        output.write(self.output.encode())
        return self.status


def verify(workspace: Workspace, folder: Path, status: int, output: str) -> int:
    """Verify an image that ends so; the report before is "{}"."""
    engine: Any = Ended(status, output)
    variant = load_variant(workspace, "openblas")
    report = docker.report_path(workspace, variant)
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    return docker.verify(
        workspace, engine, "x", variant, full=False, json_file=folder / "report.json"
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
    status: int, output: str, found: str, exit_code: int, own_workspace: Workspace, tmp_path: Path
) -> None:
    with pytest.raises(VerifyError, match="openblas could not be verified") as caught:
        verify(own_workspace, tmp_path, status, output)
    assert (caught.value.found, caught.value.exit_code) == (found, exit_code)
    report = docker.report_path(own_workspace, load_variant(own_workspace, "openblas"))
    assert report.read_text() == "{}" and not (tmp_path / "report.json").exists()


@pytest.mark.parametrize(("status", "content"), [(0, PASSED), (3, PASSED), (1, FAILED)])
def test_the_report_of_an_image_that_agrees_is_stored(
    status: int, content: object, own_workspace: Workspace, tmp_path: Path
) -> None:
    failure = pytest.raises(VerifyError, match="failed") if status == 1 else nullcontext()
    with failure:
        assert verify(own_workspace, tmp_path, status, json.dumps(content)) == status
    report = docker.report_path(own_workspace, load_variant(own_workspace, "openblas"))
    for path in (report, tmp_path / "report.json"):
        assert json.loads(path.read_text()) == content
