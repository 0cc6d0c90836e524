"""The pages of the reference that follow from the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.tasks import reference


def test_the_committed_pages_are_those_of_the_code(workspace: Workspace) -> None:
    reference.check(workspace)


def test_a_command_with_its_options_and_examples() -> None:
    tasks = reference.all_tasks()
    text = reference.commands(tasks)
    _, shared, *sections = text.split("\n## ")
    assert shared.startswith("Options of several tasks\n")
    assert [part.partition("\n")[0] for part in sections] == sorted(tasks.task_names)
    section = text.partition("\n## run\n")[2].partition("\n## ")[0]
    assert "Usage: `./invoke run --variant TEXT [OPTIONS] [-- WORDS]`" in section
    assert "```sh\n./invoke run --variant mkl -- python train.py\n" in section
    assert "| `--jobs N` | " in section


def test_what_several_tasks_take_is_described_once() -> None:
    text = reference.commands(reference.all_tasks())
    assert text.count("| `--framework TEXT` | the framework of a bare NAME") == 1
    assert "\nAlso: `--framework TEXT`, `--variant TEXT`.\n" in text
    # Another text of the same option stays with its task.
    assert "| `--framework TEXT` | lock only variants on this framework |" in text


def test_a_stale_page_is_named(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tmp_path)
    reference.write(workspace)
    reference.check(workspace)
    (tmp_path / "docs/reference/files.md").write_text("other")
    with pytest.raises(StaleError, match=r"files\.md: not what the code gives\n.*\./invoke docs"):
        reference.check(workspace)
