"""The documentation: its commands and files exist, its English is plain, and it is short.

That links lead somewhere, Sphinx checks (tests/integration/test_page.py). Code, commands and tables
of code spans are not prose. Pages made from code or results are judged where they are written.
"""

import datetime
import re
from collections.abc import Iterator
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


GENERATED = ("docs/timings.md", "docs/reference/commands.md", "docs/reference/files.md")
WRITTEN = [path for path in PAGES if path.relative_to(REPOSITORY).as_posix() not in GENERATED]
# Words of all pages but docs/timings.md, which has a limit of its own.
WORDS = 28_700
# {page: words that it may have at most}.
LIMITS = {"README.md": 950, "CHANGELOG.md": 300}
# Words of a sentence, and of a cell of a table.
SENTENCE, CELL = 30, 24

# {what is not written: what is written in its place}.
PLAIN = {
    r";": "a full stop, or a comma in a cell",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(your|their|its|his) own\b": "your, their, its",
    r"\bof (your|their|its|one's) own\b": "a separate",
    r"\bof (yours|theirs)\b": "your, their",
    r"\b(anybody|somebody|everybody)('s)? else\b": "other users",
    r"\bbeside\b": "next to, while ... is running, compared with",
    r"\bat hand\b": "installed, available",
    r"\bis (to be )?had\b": "is available",
    r"\bcan be had\b": "is available",
    r"\ball but\b|\bbut for\b": "except",
    r"\bso many at a time\b": "up to, N at a time",
    r"\bwhat is there\b": "installed, existing",
    r"\bno longer\b|\bused to\b": "present tense (history is in git)",
    r"\bin turn\b": "alternately",
    r"\bwherefore\b|\bthereby\b|\bwhereby\b": "so",
    r"\ba person\b|\bpeople\b": "you, a user",
    r"\(here\)|\[(here|below|above|how|docs|this page)\]\(": "link text that says where it leads",
    r"\[[\w./-]+\.md\]\(": "link text that says where it leads, not a file name",
}
BLOCKS = re.compile(r"^ *```.*?^ *```$|^(?: {4}|\t)[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def prose(text: str) -> str:
    """Return a page's text without code; a code span is one word."""
    return SPAN.sub("code", BLOCKS.sub("", text))


def sentences(text: str) -> Iterator[tuple[str, int]]:
    """Yield sentences and cells of tables, with the words of their links, and how long each may be.

    A colon before a list ends a sentence, too.
    """
    for line in LINK.sub(r"\1", prose(text)).splitlines():
        if line.startswith("|"):
            yield from ((cell.strip(), CELL) for cell in line.strip("|").split("|"))
        elif line.strip() and not line.startswith("#"):
            entry = re.sub(r"^\s*(?:[-*>]|\d+\.)\s+", "", line).replace("**", "")
            yield from ((each, SENTENCE) for each in re.split(r"(?<=[.!?:])\s+", entry))


def faults(text: str) -> list[str]:
    """Return what LANGUAGE asks to write otherwise in a page's text."""
    plain = prose(text)
    found = [
        f"{match[0]!r}: write {better}"
        for pattern, better in PLAIN.items()
        for match in re.finditer(pattern, plain, re.IGNORECASE)
    ]
    counted = ((len(each.split()), most, each) for each, most in sentences(text))
    return found + [f"{words} words: {each}" for words, most, each in counted if words > most]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_a_page_is_in_plain_words_and_short_sentences(page: Path) -> None:
    assert faults(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", [name for name in GENERATED if "reference" in name])
def test_what_is_made_from_code_has_the_same_words(name: str) -> None:
    # A fragment of help may have a semicolon.
    text = (REPOSITORY / name).read_text(encoding="utf-8").replace(";", ",")
    assert [fault for fault in faults(text) if "write " in fault] == []


def test_the_documentation_is_short() -> None:
    lengths = {
        page.relative_to(REPOSITORY).as_posix(): len(page.read_text(encoding="utf-8").split())
        for page in PAGES
    }
    assert {name: lengths[name] for name, limit in LIMITS.items() if lengths[name] > limit} == {}
    assert sum(words for name, words in lengths.items() if name != "docs/timings.md") <= WORDS
