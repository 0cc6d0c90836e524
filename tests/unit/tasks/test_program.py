"""The program of the command line: the list of tasks, their ends, colours, odd surroundings."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from integration.programs import called

from stacks import tasks
from stacks.core.disk import REPOSITORY
from stacks.core.process import ENDING_TWICE
from stacks.tasks import program
from stacks.tasks.program import Program
from unit.helpers.processes import read_line, started
from unit.tasks.conftest import CommandLine

HEAD = f"import sys\nsys.path.insert(0, {str(REPOSITORY)!r})\n"
RUN = f"{HEAD}from stacks.tasks.program import main\nmain()\n"
HALF_MADE = f"""{HEAD}
import invoke
from stacks.tasks.program import Program, run_to_end
from stacks.tasks.task import task

class HalfMade:
    def __del__(self):
        raise AttributeError("_ssock")

@task()
def make():
    LAST

run_to_end(Program(namespace=invoke.Collection(make)), ["./invoke", "make"])
"""


def test_without_a_task_there_is_the_list_of_them(invoke: CommandLine) -> None:
    ended = invoke()
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("Usage: ./invoke [-v] TASK [OPTIONS]")
    assert "\n  build " in ended.out
    assert "./invoke TASK --help shows what a task does" in ended.out
    assert invoke("--help").out == invoke("-h").out == ended.out


@pytest.mark.parametrize("words", ["-v schema --check", "schema -v --check"])
def test_verbose_is_accepted_before_and_after_the_task(words: str, invoke: CommandLine) -> None:
    ended = invoke(*words.split())
    assert (ended.status, ended.err) == (0, "")
    # After this task it is --variant.
    assert "unknown variant" in invoke("build", "-v", "no-such").err


def test_an_interrupt_before_a_task_begins(
    invoke: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(program: Program) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Program, "parse_tasks", interrupt)
    ended = invoke("list")
    assert (ended.status, ended.err) == (130, "\ninterrupted\n")


@pytest.mark.parametrize(
    ("last", "status", "error"),
    [
        (
            "half_made = HalfMade(); raise KeyboardInterrupt",
            130,
            "\ninterrupted; what was finished is kept: the same command begins again\n",
        ),
        # In the interpreter's own end.
        ("import atexit, signal; atexit.register(signal.raise_signal, 2)", -2, ""),
    ],
)
def test_what_an_interrupt_leaves_half_made_prints_nothing(
    last: str, status: int, error: str
) -> None:
    words = [sys.executable, "-I", "-c", HALF_MADE.replace("LAST", last)]
    done = called(words, timeout=60)
    assert done.returncode == status and re.fullmatch(error, done.stderr)


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}])
@pytest.mark.parametrize("terminal", [True, False])
def test_an_error_has_colours_on_a_terminal_only(terminal: bool, variables: dict[str, str]) -> None:
    screen, error = pty.openpty() if terminal else os.pipe()
    try:
        environment = {"PATH": os.defpath, "TERM": "xterm", **variables}
        words = [sys.executable, "-I", "-c", RUN, "bild"]
        status = subprocess.run(words, env=environment, stderr=error, check=False).returncode
        shown = os.read(screen, 10_000).decode()
    finally:
        os.close(screen)
        os.close(error)
    assert status == 2 and "there is no task 'bild'" in shown
    # NO_COLOR leaves bold type.
    assert bool(re.search("\x1b\\[[0-9;]*3[0-7]", shown)) is (terminal and not variables)


def test_the_persons_own_settings_of_invoke_are_not_read(tmp_path: Path) -> None:
    (tmp_path / ".invoke.yaml").write_text("tasks: {collection_name: mine}\n")
    words = [sys.executable, "-I", "-c", RUN, "version"]
    for home in (str(tmp_path), os.devnull):
        env = {**os.environ, "HOME": home, "INVOKE_TASKS_COLLECTION_NAME": "mine"}
        assert subprocess.check_output(words, text=True, env=env).startswith("theano-stacks ")


def test_a_name_that_the_terminal_cannot_show_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding="ascii"))
    monkeypatch.setattr(program, "run_to_end", lambda *_: print("data/\udcff", flush=True))
    program.main()
    assert output.getvalue() == b"data/\\udcff\n"


def test_the_installed_command_becomes_the_program_of_invoke(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(os, "execv", lambda *words: started.append(words))
    monkeypatch.setattr(sys, "argv", ["theano-stacks", "run", "--", "a b"])
    tasks.main()
    words = ["-I", "-c", tasks.PROGRAM, str(REPOSITORY), "run", "--", "a b"]
    assert started == [(sys.executable, [sys.executable, *words])]
    script = (REPOSITORY / "invoke").read_text()
    assert f'-c \'{tasks.PROGRAM}\' "$here" "$@"\n' in script


# A task that removes its temporary folder, slowly, while the user presses ctrl-C again.
TASK = """\
import sys
from pathlib import Path
from stacks.core.disk import replace_atomically
from stacks.core.process import ended_once

with ended_once(), replace_atomically(Path(sys.argv[1], "made")) as new:
    new.mkdir()
    try:
        print("working", flush=True)
        sys.stdin.read()
    finally:
        print("tidying", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("presses", [1, 2, 3])
def test_a_second_interrupt_waits_until_temporary_folders_are_removed(
    presses: int, tmp_path: Path
) -> None:
    with started(TASK, tmp_path) as child:
        assert child.stdin and child.stderr
        assert read_line(child) == "working\n"
        child.send_signal(signal.SIGINT)
        assert read_line(child) == "tidying\n"
        if presses > 1:
            child.send_signal(signal.SIGINT)
            assert child.stderr.readline() + child.stderr.readline() == ENDING_TWICE.decode()
        if presses > 2:
            child.send_signal(signal.SIGINT)
        else:
            child.stdin.close()
        assert child.wait() == -signal.SIGINT
        assert "KeyboardInterrupt" in child.stderr.read()
    assert list(tmp_path.iterdir()) == []


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
    return called(command, cwd=folder)


@pytest.mark.parametrize(
    ("task", "status", "error"),
    [
        ("mistake", 2, r"error: \[no\] such thing\n  expected: x\n  fix:      y\n"),
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
