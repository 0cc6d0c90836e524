"""tasks.py, loaded by an invoke that was installed alone: `pip install invoke`."""

from __future__ import annotations

import os
import subprocess
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with nothing but invoke, and its program."""
    folder = tmp_path_factory.mktemp("other")
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    for file in distribution("invoke").files or ():
        if file.suffix == ".py" or file.name in ("METADATA", "entry_points.txt"):
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(Path(file.locate()).read_bytes())
    program = folder / "bin/invoke"
    program.write_text(f"#!{folder}/bin/python\nfrom invoke.main import program\nprogram.run()\n")
    program.chmod(0o755)
    return folder


def run(folder: Path, *words: str, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    command: list[str | Path] = [folder / words[0], *words[1:]]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", [("bin/invoke",), ("bin/python", "-m", "invoke")])
def test_it_goes_on_in_the_projects_own_venv(other: Path, program: tuple[str, ...]) -> None:
    assert "pydantic" in run(other, "bin/python", "-c", "import invoke, pydantic").stderr
    done = run(other, *program, "--list", cwd=REPOSITORY / "docs")
    assert done.returncode == 0, done.stderr
    assert "verify-app" in done.stdout
    done = run(other, *program, "build", "--help")
    assert done.stdout.startswith("Usage: ./invoke build [OPTIONS]\n"), done.stderr


def test_words_errors_and_statuses_are_those_of_the_project(other: Path) -> None:
    done = run(other, "bin/invoke", "list", "--", "a b")
    assert done.returncode == 2
    assert "list takes no words after --\n  found:    'a b'\n" in done.stderr
