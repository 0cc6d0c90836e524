"""tasks.py, loaded by an invoke that was installed alone: `pip install invoke`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    return subprocess.run(
        [folder / words[0], *words[1:]],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_has_nothing_that_the_tasks_need(other: Path) -> None:
    assert run(other, "bin/python", "-c", "import invoke").returncode == 0
    assert "pydantic" in run(other, "bin/python", "-c", "import pydantic").stderr


@pytest.mark.parametrize("program", [("bin/invoke",), ("bin/python", "-m", "invoke")])
def test_it_goes_on_in_the_projects_own_venv(other: Path, program: tuple[str, ...]) -> None:
    done = run(other, *program, "--list", cwd=REPOSITORY / "docs")
    assert done.returncode == 0, done.stderr
    assert "verify-app" in done.stdout
    done = run(other, *program, "build", "--help")
    assert done.stdout.startswith("Usage: ./invoke build [OPTIONS]\n"), done.stderr


def test_errors_and_statuses_are_those_of_the_project(other: Path) -> None:
    done = run(other, "bin/invoke", "build", "--variant", "mkl-amdlibn")
    assert done.returncode == 2
    assert "mkl-amdlibm" in done.stderr and "Traceback" not in done.stderr


def test_words_after_two_dashes_arrive_as_they_are(other: Path) -> None:
    done = run(other, "bin/invoke", "list", "--", "a b")
    assert done.returncode == 2
    assert "'a b'" in done.stderr


def test_a_checkout_without_tools_and_network_says_what_is_missing(
    other: Path, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("invoke", "tasks.py", "requirements.lock"):
        (checkout / name).write_bytes((REPOSITORY / name).read_bytes())
    shutil.copytree(REPOSITORY / "verify", checkout / "verify")
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/\nretries = 0\n")
    done = subprocess.run(
        [other / "bin/invoke", "list"],
        cwd=checkout,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"),
            "PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "error: pip could not install requirements.lock" in done.stderr
    assert "THEANO_STACKS_VENDOR" in done.stderr
