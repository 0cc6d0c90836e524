"""The blocks of a page of the documentation: commands, and files that a reader saves.

A comment before a block says how a test treats it:

    <!-- not run: REASON -->    a block of commands that the test does not run
    <!-- file: NAME -->         a block that the reader saves as a file

A block of text after commands is a part of their output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

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
