"""Links within the documentation lead somewhere, and the README stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

PAGES = sorted(
    [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("examples/*.md")]
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ +(.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text()):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if "://" in link or link.startswith("mailto:"):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_each_page_is_reached_from_the_index() -> None:
    docs = REPOSITORY / "docs"
    index = docs / "index.md"
    linked = {docs / link for link in LINK.findall(index.read_text())}
    assert [page for page in PAGES if docs in page.parents and page not in linked] == [index]


def test_the_readme_is_short_and_leads_to_the_index() -> None:
    text = (REPOSITORY / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    assert "](docs/index.md)" in text


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
