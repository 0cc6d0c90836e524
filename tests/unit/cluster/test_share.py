"""A share of a sweep, on the machine of a worker."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stacks.cluster import share
from stacks.cluster.messages import Answer, Share
from stacks.core.workspace import Workspace
from stacks.environments import build
from stacks.environments.jobs import jobs_of

VARIANT = "theano-1.0.5/openblas"


def test_each_job_has_its_status_and_the_end_of_its_log(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "make_environment", lambda *_: tmp_path / "prefix")
    monkeypatch.setattr(share, "MOST_LOG", 6)
    monkeypatch.chdir(tmp_path)
    program = "import os, sys; print(os.path.basename(os.getcwd()) and sys.argv[1]); sys.exit(2)"
    jobs = jobs_of([sys.executable, "-c", program, ":::", "1234567", "é"], None)
    folder = tmp_path / "here"
    folder.mkdir()
    order = Share(folder=str(folder), at_once=2, jobs=tuple(jobs), files={})
    answer = share.run(own_workspace, VARIANT, order)
    # As it is sent.
    answer = Answer.model_validate_json(answer.model_dump_json(by_alias=True))
    assert {run.job: (run.status, run.log) for run in answer.runs} == {
        1: (2, b"... 2 bytes left out\n34567\n"),
        2: (2, "é\n".encode()),
    }


def test_a_machine_without_the_folder_refuses(own_workspace: Workspace, tmp_path: Path) -> None:
    order = Share(folder=str(tmp_path / "missing"), at_once=1, jobs=(), files={})
    answer = share.run(own_workspace, VARIANT, order)
    assert answer.refused and answer.error and "missing is not on this machine" in answer.error.what


def test_a_machine_with_another_lock_refuses(own_workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text("summary: mine\nextends: openblas\nframework: theano-1.0.5\n")
    order = Share(folder=str(tmp_path), at_once=1, jobs=(), files={str(file): "0" * 64})
    answer = share.run(own_workspace, str(file), order)
    assert answer.refused and answer.error and answer.error.found == str(file)
