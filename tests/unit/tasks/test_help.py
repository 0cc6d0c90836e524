"""The help of the tasks: complete, within 80 columns, with examples that can be typed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext

import tasks
from stacks.core.disk import REPOSITORY
from stacks.tasks import help as task_help
from stacks.tasks.help import SCRIPTS, all_tasks, candidates, commands
from stacks.tasks.program import Program
from stacks.tasks.task import EXAMPLES
from unit.tasks.conftest import CommandLine

NAMES = sorted(name.strip("_").replace("_", "-") for name in tasks.__all__)


class Parsing(Program):
    """Parses a command line and runs nothing."""

    def execute(self) -> None:
        """Do nothing."""


def parse(*words: str) -> int | str | None:
    """Return the exit status of a command line whose tasks do nothing."""
    given = task_help.with_each_file(task_help.asked_for(words))
    argv = ["./invoke", "--search-root", str(REPOSITORY), *given]
    try:
        Parsing(name="Invoke", binary="./invoke").run(argv)
    except SystemExit as end:
        return end.code
    return 0


def texts_of(prelude: str = "") -> dict[str, str]:
    """Return the help of each task, of one new process: invoke gives the options' texts once."""
    code = (
        "import io, json, sys; from contextlib import redirect_stdout\n"
        "sys.path[:0] = sys.argv[1:]\n"
        f"{prelude}\n"
        "from unit.tasks.test_help import Parsing\n"
        "program = Parsing(name='Invoke', binary='./invoke')\n"
        "program.run(['./invoke', '--search-root', sys.argv[1], 'list'], exit=False)\n"
        "found = {}\n"
        "for name in program.parser.contexts:\n"
        "    with redirect_stdout(io.StringIO()) as output: program.print_task_help(name)\n"
        "    found[name] = output.getvalue()\n"
        "print(json.dumps(found))\n"
    )
    folders = (REPOSITORY, REPOSITORY / "tests")
    found: dict[str, str] = json.loads(
        subprocess.check_output([sys.executable, "-c", code, *folders], text=True)
    )
    return found


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return texts_of()


@pytest.mark.parametrize("name", NAMES)
def test_each_task_has_help_and_examples_that_can_be_read(
    name: str, texts: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    usage, empty, summary = texts[name].splitlines()[:3]
    assert usage.startswith(f"Usage: ./invoke {name}") and empty == "" and summary
    assert max(map(len, texts[name].splitlines())) <= task_help.WIDTH
    assert not re.search(r"--\w+_", texts[name]), "an option as it is typed"
    shown = re.findall(r"^  \./invoke (.*)$", texts[name].partition("Examples:\n")[2], re.MULTILINE)
    assert tuple(shown) == EXAMPLES[name] and shown
    for example in shown:
        assert example.split()[0] == name
        assert parse(*shlex.split(example)) == 0, capsys.readouterr().err


def test_the_help_of_the_installed_command_has_its_name_in_80_columns() -> None:
    texts = texts_of("from stacks.core import console; console.INSTALLED = True")
    assert texts.keys() == set(NAMES)
    for text in texts.values():
        assert text.startswith("Usage: theano-stacks ") and "./invoke" not in text
        assert max(map(len, text.splitlines())) <= task_help.WIDTH, text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("build --help", "--help build"),
        ("-v build --variant mkl --help", "--help build"),
        ("--help build", "--help build"),
        (
            "run --variant mkl -- python train.py --help",
            "run --variant mkl -- python train.py --help",
        ),
        ("--help", ""),
        ("-h", ""),
        ("", ""),
        ("list", "list"),
    ],
)
def test_help_may_stand_before_or_after_the_task(words: str, expected: str) -> None:
    assert task_help.asked_for(words.split()) == expected.split()


def test_defaults_and_places_are_shown(texts: dict[str, str]) -> None:
    assert "(default: 8420, as in the locks)" in " ".join(texts["serve"].split())
    assert texts["worker"].startswith("Usage: ./invoke worker ADDRESS [OPTIONS] [-- WORDS]\n")
    assert "\n  --insecure-address " in texts["worker"]
    assert texts["shell"].startswith("Usage: ./invoke shell --variant TEXT [OPTIONS]\n")
    assert texts["release"].startswith("Usage: ./invoke release --to TEXT [OPTIONS]\n")
    assert texts["publish"].startswith("Usage: ./invoke publish [OPTIONS]\n")
    assert "\n  --add FILE ... " in texts["publish"]


def test_the_help_of_a_misspelt_task_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse("bild", "--help") == 2
    assert "did you mean `./invoke build`?" in capsys.readouterr().err


def test_several_files_may_follow_an_option() -> None:
    words = ["publish", "--add", "a.json", "b.json", "c.json", "--check", "d.json"]
    assert task_help.with_each_file(words) == [
        *("publish", "--add", "a.json", "--add", "b.json", "--add", "c.json"),
        *("--check", "d.json"),
    ]
    assert task_help.with_each_file(["publish", "--add", "a.json", "results"])[3:] == ["results"]


TASKS = {
    "build": ParserContext(
        "build",
        args=[
            Argument(names=("variant", "v")),
            Argument(names=("variants",)),
            Argument(names=("full", "f"), kind=bool),
            Argument(names=("sdist",), kind=bool, default=True),
        ],
    ),
    "bench": ParserContext("bench"),
}


def names() -> list[str]:
    return ["mkl", "openblas", "theano-0.8.2/mkl"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "bench build"),
        ("bu", "build"),
        ("-v|b", "bench build"),
        ("build|", ""),
        ("build|--", "--full --help --no-sdist --sdist --variant --variants"),
        ("bench|--", "--help"),
        ("build|--variant|", "mkl openblas theano-0.8.2/mkl"),
        ("build|--full|--variant|theano-0.8.2/", "theano-0.8.2/mkl"),
        ("build|--variants|mkl,o", "mkl,openblas"),
        ("build|--variant=m", "--variant=mkl"),
        # As bash splits it.
        ("build|--variant|=|m", "mkl"),
        ("build|--variant|=", "mkl openblas theano-0.8.2/mkl"),
        ("build|--variant|mkl|--|b", ""),
    ],
)
def test_candidates(words: str, expected: str) -> None:
    values = {"--variant": names, "--variants": names}
    assert candidates(words.split("|"), TASKS, values) == expected.split()


# What each shell does when a person presses the tabulator.
DRIVERS = {
    "bash": """
        COMP_WORDS=(./invoke build --variant op) COMP_CWORD=3
        _theano_stacks
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compadd() { print -l -- ${(P)2} }
        words=(./invoke build --variant op) CURRENT=4
        _theano_stacks
    """,
    "fish": "complete -C './invoke build --variant op'",
}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_in_a_shell(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    code = SCRIPTS[shell] + DRIVERS[shell]
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *options, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["openblas", "openblas-amdlibm"], done.stderr


def test_the_committed_pages_are_those_of_the_code(invoke: CommandLine) -> None:
    assert invoke("docs", "--check").status == 0


def test_a_command_has_its_options_and_examples_and_what_several_take_once() -> None:
    text = commands()
    _, shared, *sections = text.split("\n## ")
    assert shared.startswith("Options of several tasks\n")
    assert [part.partition("\n")[0] for part in sections] == sorted(all_tasks().task_names)
    section = text.partition("\n## run\n")[2].partition("\n## ")[0]
    assert "Usage: `./invoke run --variant TEXT [OPTIONS] [-- WORDS]`" in section
    assert "```sh\n./invoke run --variant mkl -- python train.py\n" in section
    assert "| `--jobs N` | " in section
    assert text.count("| `--framework TEXT` | the framework of a bare NAME") == 1
    assert "\nAlso: `--framework TEXT`, `--variant TEXT`.\n" in text
    # Another text of the same option stays with its task.
    assert "| `--framework TEXT` | lock only variants on this framework |" in text
