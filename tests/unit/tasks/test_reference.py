"""The page of all commands, which follows from the code."""

from __future__ import annotations

from stacks.tasks.help import all_tasks, commands
from unit.tasks.conftest import CommandLine


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
