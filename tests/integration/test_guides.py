"""The tutorial and the guides, typed as they are: each block of commands, in order, by a shell.

A comment before a block says how it is treated:

    <!-- not run: REASON -->    a block of commands that is skipped here
    <!-- file: NAME -->         a block that the reader saves as a file

A block of text after commands is a part of their output.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from integration.conftest import Prefix
from stacks.core.disk import REPOSITORY

BLOCK = re.compile(
    r"(?:^ *<!-- (?P<mark>not run|file): (?P<words>[^\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>sh|text|python)\n(?P<content>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"\d[\d.]*")


@dataclass(frozen=True)
class Block:
    """A block of a page. file: the name to save it by. reason: why it is not run.

    output: lines that are in the output of its commands.
    """

    page: Path
    number: int
    content: str
    file: str = ""
    reason: str = ""
    output: tuple[str, ...] = ()


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in order; text that follows no commands is none."""
    found: list[Block] = []
    for match in BLOCK.finditer(page.read_text()):
        content = re.sub(rf"^{match['indent']}", "", match["content"], flags=re.MULTILINE)
        words = {match["mark"]: match["words"]}
        number = len(found) + 1
        if match["language"] == "text":
            commands = found.pop()
            lines = (*commands.output, *content.splitlines())
            found.append(Block(page, commands.number, commands.content, output=lines))
        elif "file" in words or match["language"] == "sh":
            file, reason = words.get("file", ""), words.get("not run", "")
            found.append(Block(page, number, content, file, reason))
    return found


def missing(lines: tuple[str, ...], output: str) -> list[str]:
    """Return those of the lines that are in no line of the output, whatever their numbers are."""
    printed = [_plain(line) for line in output.splitlines()]
    return [line for line in lines if not any(_plain(line) in one for one in printed)]


def _plain(line: str) -> str:
    return " ".join(NUMBER.sub("0", line).split())


DOCS = REPOSITORY / "docs"
PAGES = [DOCS / "tutorial.md", *sorted(DOCS.glob("guides/*.md"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, prefix: Prefix) -> Path:
    """Give a folder where ./invoke is this checkout's, and have the environments that are run."""
    for flavour in ("openblas", "pip-default"):
        prefix("theano-1.0.5", flavour)
    made = tmp_path_factory.mktemp("guides")
    (made / "invoke").symlink_to(REPOSITORY / "invoke")
    return made


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: f"{b.page.relative_to(DOCS)}:{b.number}")
def test_commands_do_what_the_page_says(block: Block, folder: Path) -> None:
    if block.reason:
        pytest.skip(f"not run: {block.reason}")
    if block.file:
        (folder / block.file).write_text(block.content)
        return
    done = subprocess.run(
        ["sh", "-eu", "-c", f"exec 2>&1 </dev/null\n{block.content}"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    assert missing(block.output, done.stdout) == [], done.stdout


def test_the_tutorial_is_run_but_for_what_it_says() -> None:
    tutorial = [block for block in BLOCKS if block.page == PAGES[0]]
    assert [b.content.split()[0] for b in tutorial if b.reason] == ["./invoke"] * 2
    assert sum(not block.reason for block in tutorial) == 5
