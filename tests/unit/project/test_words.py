"""The English of the documentation: short sentences, plain words, no semicolons, and its length.

Code, commands and tables of code spans are not prose. Pages that are made from code or results are
judged where their texts are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

GENERATED = ("docs/timings.md", "docs/reference/commands.md", "docs/reference/files.md")
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/**/README.md", "measurements/README.md")
    for path in REPOSITORY.glob(pattern)
)
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
CODE = re.compile(r"^ *```.*?^ *```$|^(?: {4}|\t)[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def prose(text: str) -> str:
    """Return a page's text without code; a code span is one word."""
    return SPAN.sub("code", CODE.sub("", text))


def paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs, entries of lists and cells of tables, with the words of their links."""
    for line in LINK.sub(r"\1", prose(text)).splitlines():
        if line.startswith("|"):
            yield from (cell.strip() for cell in line.strip("|").split("|"))
        elif line.strip() and not line.startswith("#"):
            yield re.sub(r"^\s*(?:[-*>]|\d+\.)\s+", "", line)


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph; a colon before a list ends one, too."""
    return re.split(r"(?<=[.!?:])\s+", paragraph.replace("**", ""))


def faults(text: str) -> list[str]:
    """Return what LANGUAGE asks to write otherwise in a page's text."""
    plain = prose(text)
    found = [
        f"{match[0]!r}: write {better}"
        for pattern, better in PLAIN.items()
        for match in re.finditer(pattern, plain, re.IGNORECASE)
    ]
    for line in LINK.sub(r"\1", plain).splitlines():
        is_row = line.startswith("|")
        for paragraph in paragraphs(line) if is_row or line.strip() else ():
            for sentence in [paragraph] if is_row else sentences(paragraph):
                words = len(sentence.split())
                if words > (CELL if is_row else SENTENCE):
                    found.append(f"{words} words: {sentence}")
    return found


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
