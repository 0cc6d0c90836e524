"""The program of the command line: the list of tasks, interrupts, colours, odd surroundings."""

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

from stacks import tasks
from stacks.core.disk import REPOSITORY
from stacks.core.process import ENDING_TWICE
from stacks.tasks import program
from stacks.tasks.program import Program
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
    half_made = HalfMade()
    raise KeyboardInterrupt

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


def test_what_an_interrupt_leaves_half_made_prints_nothing() -> None:
    words = [sys.executable, "-I", "-c", HALF_MADE]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 130
    assert done.stderr == "\ninterrupted; what was finished is kept\n"


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
    env = {**os.environ, "HOME": str(tmp_path), "INVOKE_TASKS_COLLECTION_NAME": "mine"}
    words = [sys.executable, "-I", "-c", RUN, "version"]
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
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", TASK, tmp_path], cwd=REPOSITORY, stdin=pipe, stdout=pipe, stderr=pipe
    ) as child:
        assert child.stdin and child.stdout and child.stderr
        assert child.stdout.readline() == b"working\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == b"tidying\n"
        if presses > 1:
            child.send_signal(signal.SIGINT)
            assert child.stderr.readline() + child.stderr.readline() == ENDING_TWICE
        if presses > 2:
            child.send_signal(signal.SIGINT)
        else:
            child.stdin.close()
        assert child.wait() == -signal.SIGINT
        assert b"KeyboardInterrupt" in child.stderr.read()
    assert list(tmp_path.iterdir()) == []
