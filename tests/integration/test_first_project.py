"""A person's first project, by the commands that they type: from `init` to a program that samples.

The tests of this module follow one another in one project. They need a network.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

PROGRAM = REPOSITORY / "examples/pymc3-3.11/sample.py"
# Seconds in which a verification has processes in the environment, and in which they end when it is
# killed. A verification that goes on by itself takes longer.
STARTING, ENDING = 60.0, 10.0


@dataclass(frozen=True)
class Project:
    """A folder with a stack.yaml, and a folder for temporary files."""

    folder: Path
    temporary: Path

    @property
    def stack(self) -> Path:
        return self.folder / "stack.yaml"

    @property
    def environment(self) -> Path:
        return self.folder / "stack.build/environment"

    def words(self, task: str, *more: str | Path) -> list[str | Path]:
        return [REPOSITORY / "invoke", task, "--variant", self.stack, *more]

    def type(self, task: str, *more: str | Path) -> subprocess.CompletedProcess[str]:
        return self.run(self.words(task, *more))

    def run(self, words: list[str | Path]) -> subprocess.CompletedProcess[str]:
        """Run a command as a person would; no traceback may be in what it prints."""
        done = subprocess.run(
            words,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stdout, done.stdout
        return done


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Give a project that asks for PyMC3, locked and built."""
    root = tmp_path_factory.mktemp("first")
    made = Project(root / "my prøject", root / "temporary")
    made.temporary.mkdir()
    framework = ("--framework", "theano-pymc-1.1.2")
    assert made.run([REPOSITORY / "invoke", "init", made.folder, *framework]).returncode == 0
    text = made.stack.read_text()
    assert "\npip: []\n" in text
    made.stack.write_text(text.replace("\npip: []\n", "\npip: [pymc3==3.11.6]\n"))
    for task in ("lock", "build"):
        done = made.type(task)
        assert done.returncode == 0, done.stdout
    yield made
    shutil.rmtree(made.folder)


def test_a_program_finds_the_posterior(project: Project) -> None:
    done = project.type("run", "--", "python", PROGRAM)
    assert done.returncode == 0, done.stdout
    assert "the data were made with 2.5" in done.stdout


def test_a_killed_verification_leaves_nothing(project: Project) -> None:
    """It is killed while a process of its own compiles or measures in the environment."""
    words = project.words("verify")
    verification = subprocess.Popen(
        words,
        env={**os.environ, "TMPDIR": str(project.temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: len(processes_in(project.environment)) > 1, STARTING)
    assert verification.poll() is None
    verification.send_signal(signal.SIGKILL)
    verification.wait()
    wait_for(lambda: not processes_in(project.environment), ENDING)
    # As every task begins.
    assert project.run([REPOSITORY / "invoke", "list"]).returncode == 0
    assert list(project.temporary.iterdir()) == []


def processes_in(environment: Path) -> list[str]:
    """Return the IDs of processes whose program is in the environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str((entry / "exe").readlink()).startswith(
                str(environment)
            ):
                found.append(entry.name)
        except OSError:
            # It has ended, or is another user's.
            continue
    return found


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "too late"
        time.sleep(0.05)
