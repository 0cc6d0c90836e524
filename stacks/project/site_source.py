"""The pages of the documentation as a folder that Sphinx reads.

The pages in docs/ come to its top, so that docs/index.md is the site's first page. Others keep
their paths, and so do the files that a page links to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

FOLDER = "docs"
INDEX = f"{FOLDER}/index.md"
# Pages outside of docs/.
OTHERS = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "examples/**/README.md",
    "measurements/README.md",
)
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)


def pages(root: Path) -> list[str]:
    """Return the paths of all pages, relative to the checkout."""
    found = (path for pattern in (f"{FOLDER}/**/*.md", *OTHERS) for path in root.glob(pattern))
    return sorted(path.relative_to(root).as_posix() for path in found)


def write(root: Path, folder: Path) -> dict[str, str]:
    """Write the pages, with what they show and link to; return {path in the folder: page}."""
    names = pages(root)
    written = {}
    for name in names:
        text = (root / name).read_text(encoding="utf-8")
        place = staged(name)
        written[place] = name
        _put(folder / place, page(root, name, text, names).encode())
        for link in _files(root, name, text, names):
            _put(folder / staged(link), (root / link).read_bytes())
    return written


def staged(path: str) -> str:
    """Return the place of a page or file in the folder that Sphinx reads."""
    return path.removeprefix(f"{FOLDER}/")


def page(root: Path, name: str, text: str, names: Collection[str]) -> str:
    """Return a page's text with the links of its new place; that of the index has the sidebar.

    names: those of all pages. A link to a folder becomes one to its README.md, or none if that is
    no page. Lines keep their numbers.
    """

    def moved(match: re.Match[str]) -> str:
        words, link = match.groups()
        target, anchor = _target(name, link)
        if not target:
            return match[0]
        if (root / target).is_dir():
            target += "/README.md"
            if target not in names:
                return words
        place = os.path.relpath(staged(target), PurePosixPath(staged(name)).parent)
        return f"[{words}]({place}{anchor})"

    text = LINK.sub(moved, text)
    if name == INDEX:
        # A part of the sidebar for each section.
        _, *parts = HEADING.split(text)
        for heading, section in zip(parts[::2], parts[1::2], strict=True):
            text += _toctree(LINK.findall(section), f":caption: {heading}")
    elif PurePosixPath(name).match("*/README.md"):
        # The index of the folders below it.
        below = [(words, link) for words, link in LINK.findall(text) if link.endswith("/README.md")]
        text += _toctree(below) if below else ""
    return text


def _toctree(links: Sequence[tuple[str, str]], *options: str) -> str:
    entries = (f"{words} <{link}>" for words, link in links)
    return "\n".join(["", "```{toctree}", ":hidden:", *options, "", *entries, "```", ""])


def _files(root: Path, name: str, text: str, names: Collection[str]) -> Iterator[str]:
    """Yield the files of the checkout that a page shows or links to and that are no pages."""
    for _, link in LINK.findall(text):
        target, _ = _target(name, link)
        if target and target not in names and (root / target).is_file():
            yield target


def _target(name: str, link: str) -> tuple[str, str]:
    """Return where a link of a page leads in the checkout, "" for elsewhere; and its anchor."""
    path, mark, anchor = link.partition("#")
    if not path or ":" in path:
        return "", ""
    target = os.path.normpath(PurePosixPath(name).parent / path)
    return ("", "") if target.startswith("..") else (target, mark + anchor)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
