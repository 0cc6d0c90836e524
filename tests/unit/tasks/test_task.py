"""What a user sees when a task ends well, fails, or is stopped; the order of the checks."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

TASKS = """\
import sys
sys.path.insert(0, {repository!r})
from stacks.core.errors import UsageError
from stacks.tasks.task import remainder, task

@task()
def mistake():
    raise UsageError("[no] such thing", expected="x", fix="y")

@task()
def logged():
    from pathlib import Path
    from stacks.core import console
    from stacks.core.process import call
    from stacks.core.workspace import Workspace
    from stacks.tasks import task as module
    module.default_workspace = lambda: Workspace(Path.cwd(), Path.cwd())
    console.start_log(verbose=False)
    call(["false"])

@task()
def defect():
    raise ZeroDivisionError("a defect")

@task()
def limited():
    raise OSError(24, "Too many open files", "/x")

@task()
def stopped():
    raise KeyboardInterrupt

@task(help={{"size": "how large"}}, takes_command=True)
def echo(size="1"):
    print(size, remainder())

@task(protects=("cache",))
def building():
    print("built")

@task()
def much():
    for _ in range(100000):
        print("much")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "tasks.py").write_text(TASKS.format(repository=str(REPOSITORY)))
    command = [sys.executable, "-m", "invoke", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("task", "status", "error"),
    [
        ("mistake", 2, r"error: \[no\] such thing\n  expected: x\n  fix:      y\n"),
        ("stopped", 130, r"\ninterrupted; what was finished is kept\n"),
        ("limited", 1, r"error: /x: Too many open files\n  fix: +raise the limit of open .*\n"),
        ("defect", 1, r"(?s)Traceback.*ZeroDivisionError: a defect\n"),
    ],
)
def test_how_a_task_ends(task: str, status: int, error: str, tmp_path: Path) -> None:
    done = run(tmp_path, task)
    assert (done.returncode, done.stdout) == (status, "")
    assert re.fullmatch(error, done.stderr)


def test_failure_names_its_log(tmp_path: Path) -> None:
    done = run(tmp_path, "logged")
    assert done.returncode == 1
    assert done.stderr.endswith("  log:      build/logs/logged-1.log\n")
    assert " + false\nerror: false\n" in (tmp_path / "build/logs/logged-1.log").read_text()


def test_words_after_two_dashes_come_as_the_shell_split_them(tmp_path: Path) -> None:
    done = run(tmp_path, "echo", "--size", "2", "--", "python", "-c", "print('a b')", "--", "x")
    assert done.stdout == "2 ['python', '-c', \"print('a b')\", '--', 'x']\n"


def test_a_closed_pipe_ends_the_program_quietly(tmp_path: Path) -> None:
    run(tmp_path, "--list")
    words, pipe = [sys.executable, "-m", "invoke", "much"], subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline() == "much\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 128 + signal.SIGPIPE


def test_a_task_begins_with_the_removal_of_leftovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("THEANO_STACKS_CACHE", str(cache))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    left = (cache / "packages/.a.12345678.part", tmp_path / "theano-stacks-scratch-12345678")
    for folder in left:
        (folder / "a").mkdir(parents=True)
    result = run(tmp_path, "building")
    assert (result.returncode, result.stdout) == (0, "built\n")
    note = "removed what interrupted or killed programs left in"
    assert result.stderr.splitlines() == [f"{note} {tmp_path}: 1 entry", f"{note} {cache}: 1 entry"]
    assert not any(folder.exists() for folder in left)
