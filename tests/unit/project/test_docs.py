"""Commands of the documentation and of CI exist, and so does what the texts name.

That links lead somewhere, Sphinx checks (tests/integration/test_site.py).
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
from packaging.version import Version

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import VERSION
from stacks.tasks.help import all_tasks

PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/README.md", "measurements/README.md")
    for page in REPOSITORY.glob(pattern)
)
WORKFLOWS = sorted((REPOSITORY / ".github/workflows").iterdir())
# A command in a code span or a block, up to what begins another one or a comment.
COMMAND = re.compile(r"\./invoke ([^`\n#|&;()<>\\]+)")
# In a message of the code, up to what is put in.
IN_CODE = re.compile(r"""[`"(]\./invoke ([^`"\n#|&;()<>\\{]+)""")
CODE = sorted(path for room in ("stacks", "verify") for path in (REPOSITORY / room).rglob("*.py"))
PLACEHOLDERS = {"TASK", "...", "NAME"}
TASKS = {str(context.name): context for context in all_tasks().to_contexts()}


# The changes have commands of earlier versions.
@pytest.mark.parametrize(
    "page",
    [page for page in (*PAGES, *WORKFLOWS) if page.name != "CHANGELOG.md"],
    ids=lambda page: str(page.relative_to(REPOSITORY)),
)
def test_each_command_names_a_task_and_options_that_exist(page: Path) -> None:
    assert [
        fault for command in COMMAND.findall(page.read_text()) if (fault := wrong(command))
    ] == []


def test_each_command_of_a_message_names_a_task_and_options_that_exist() -> None:
    commands = [found for path in CODE for found in IN_CODE.findall(path.read_text())]
    assert len(commands) > 60
    assert [fault for command in commands if (fault := wrong(command))] == []


def wrong(command: str) -> str:
    """Return the task or the option of a command that does not exist, "" if all do."""
    words = [word.rstrip(".,:") for word in command.split(" -- ")[0].split()]
    task, *others = [word for word in words if word != "-v"]
    if task in PLACEHOLDERS or task.startswith("--"):
        return ""
    if task not in TASKS:
        return task
    options = (word.partition("=")[0] for word in others if word.startswith("--"))
    known = {*TASKS[task].flags, *TASKS[task].inverse_flags, "--help", "--"}
    return next((f"{task} {option}" for option in options if option not in known), "")


def test_the_tests_of_commands_that_are_not_run_are_there() -> None:
    reasons = [r for page in PAGES for r in re.findall(r"<!-- not run: (.+) -->", page.read_text())]
    named = {name for reason in reasons for name in re.findall(r"tests/[\w/]+\.py", reason)}
    assert len(named) > 5
    assert [name for name in sorted(named) if not (REPOSITORY / name).is_file()] == []


def test_the_pages_that_the_code_names_are_there() -> None:
    folders = ("stacks", "verify", "envs", ".github", "measurements", "docker")
    texts = [
        (path, path.read_text(encoding="utf-8"))
        for folder in folders
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".yml", ".jinja") and path.is_file()
    ]
    named = {(path, name) for path, text in texts for name in re.findall(r"docs/[\w/-]+\.md", text)}
    assert len(named) > 5
    assert [
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path, name in sorted(named)
        if not (REPOSITORY / name).is_file()
    ] == []


def test_the_changelog_has_unreleased_changes_and_then_dated_versions_newest_first() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert text.startswith("# Changelog\n") and first == "[Unreleased]"
    released = [re.fullmatch(r"\[(.+)\] - (.+)", head) for head in heads]
    pairs = [(Version(m[1]), datetime.date.fromisoformat(m[2])) for m in released if m]
    assert len(pairs) == len(heads) and pairs == sorted(pairs, reverse=True)
    assert all(version <= Version(VERSION) for version, _ in pairs)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds


def test_the_tests_that_the_promises_name_are_there() -> None:
    text = (REPOSITORY / "docs/explanation/promises.md").read_text()
    file, missing = REPOSITORY, []
    for name, function in re.findall(r"`([\w/.]*)(?:::(test_\w+))?`", text):
        if name.startswith("tests/"):
            file = REPOSITORY / name
        elif name.startswith("test_"):
            file = file.with_name(name)
        elif not function:
            continue
        if not file.is_file() or (function and f"def {function}(" not in file.read_text()):
            missing.append(f"{name}::{function}")
    assert missing == []
