"""action.yml: other projects verify their own Python with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from stacks.core.disk import REPOSITORY

FILE = REPOSITORY / "action.yml"


def run_step(tmp_path: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step's script as GitHub's runner does."""
    [step] = yaml.safe_load(FILE.read_text())["runs"]["steps"]
    script = tmp_path / "script.sh"
    script.write_text(step["run"])
    names = {value: name for name, value in step["env"].items()}
    given = {names[f"${{{{ inputs.{name} }}}}"]: value for name, value in inputs.items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
        env={**os.environ, "GITHUB_ACTION_PATH": str(REPOSITORY), **given},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_runs_the_suite_of_its_own_commit_on_the_chosen_python(tmp_path: Path) -> None:
    done = run_step(tmp_path, python=sys.executable, junit="")
    # The tests' own Python has neither a framework nor NumPy.
    assert done.returncode == 2
    assert f"verify cannot run with {sys.executable}" in done.stderr


@pytest.mark.parametrize("status", [0, 1])
def test_it_ends_with_the_status_of_the_suite(tmp_path: Path, status: int) -> None:
    python = tmp_path / "a python"
    python.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@"\nexit {status}\n')
    python.chmod(0o755)
    done = run_step(tmp_path, python=str(python), junit="a b.xml")
    assert done.returncode == status
    assert done.stdout.splitlines() == [str(REPOSITORY / "verify"), "--junit", "a b.xml"]
