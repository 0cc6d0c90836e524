"""The help of the tasks, and tasks.py as another invoke loads it."""

import os
import re
import shlex
import subprocess
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

import tasks
from stacks.core import console
from stacks.core.disk import REPOSITORY
from stacks.tasks import help as task_help
from stacks.tasks.help import all_tasks
from stacks.tasks.program import Program, words_of
from stacks.tasks.task import DECLARED
from unit.helpers.environments import add
from unit.tasks.conftest import CommandLine

NAMES = sorted(name.strip("_").replace("_", "-") for name in tasks.__all__)


class Parsing(Program):
    """Parses a command line and runs nothing."""

    def execute(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("program", "other"), [("./invoke", "theano-stacks"), ("theano-stacks", "./invoke")]
)
def test_each_task_has_help_in_80_columns(
    program: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "INSTALLED", program != "./invoke")
    texts = {str(each.name): task_help.render_help(each) for each in all_tasks().to_contexts()}
    assert sorted(texts) == NAMES
    for name, text in texts.items():
        usage, empty, summary = text.splitlines()[:3]
        assert re.match(rf"Usage: {program} {name}\b", usage) and empty == "" and summary
        assert f"{other} " not in text
        assert max(map(len, text.splitlines())) <= task_help.WIDTH, text
        assert not re.search(r"--\w+_", text), "an option as it is typed"
        assert f"\nExamples:\n  {program} {DECLARED[name].examples[0]}" in text


@pytest.mark.parametrize("example", [line for each in DECLARED.values() for line in each.examples])
def test_each_example_can_be_read(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    Parsing(name="Invoke", binary="./invoke").run(words_of(shlex.split(example)), exit=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "words", ["build --help", "-v build --variant mkl --help", "run --help", "--help init"]
)
def test_help_may_stand_before_or_after_the_task(words: str, invoke: CommandLine) -> None:
    ended = invoke(*words.split())
    [task] = {"build", "run", "init"} & set(words.split())
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(f"Usage: ./invoke {task} ")


def test_several_files_may_follow_an_option() -> None:
    words = ["publish", "--add", "a.json", "b.json", "c.json", "--check", "d.json"]
    assert task_help.with_each_file(words) == [
        *("publish", "--add", "a.json", "--add", "b.json", "--add", "c.json"),
        *("--check", "d.json"),
    ]
    assert task_help.with_each_file(["publish", "--add", "a.json", "results"])[3:] == ["results"]


COMPLETED = """\
eval "$(./invoke --print-completion-script bash)"
COMP_WORDS=(./invoke build --va) COMP_CWORD=2
_complete_./invoke ./invoke --va build
echo "${COMPREPLY[@]}"
"""


def test_a_shell_completes_options() -> None:
    words = ["bash", "--norc", "-c", COMPLETED]
    assert subprocess.check_output(words, cwd=REPOSITORY, text=True) == "--variant\n"


def test_the_committed_pages_are_those_of_the_code(invoke: CommandLine) -> None:
    assert invoke("docs", "--check").status == 0


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with nothing but invoke, and its program."""
    folder = tmp_path_factory.mktemp("other")
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    for file in distribution("invoke").files or ():
        if file.suffix == ".py" or file.name in ("METADATA", "entry_points.txt"):
            add(packages, file, Path(file.locate()).read_bytes())
    program = f"#!{folder}/bin/python\nfrom invoke.main import program\nprogram.run()\n"
    add(folder, "bin/invoke", program, 0o755)
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
    # Words, errors and statuses are those of the project, too.
    done = run(other, *program, "list", "--", "a b")
    assert done.returncode == 2
    assert "list takes no words after --\n  found:    'a b'\n" in done.stderr
