"""The pages as Sphinx gets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.project import site_source

INDEX = """# Title

## Guides

- [One](guides/one.md): the first
- [Two](two.md)

## Others

- [Examples](../examples/README.md)
"""
FILES = {
    "docs/index.md": INDEX,
    "docs/guides/one.md": "[a](../two.md#x) [b](../../CONTRIBUTING.md) [c](../../envs/a.json)\n"
    "[folder](../../envs) [d](../../examples/small) ![p](../plot.svg) [e](#here) [f](https://a.b/c)\n",
    "docs/two.md": "# Two",
    "docs/plot.svg": "<svg/>",
    "envs/a.json": "{}",
    "envs/b.json": "{}",
    "CONTRIBUTING.md": "[t](docs/two.md)",
    "CHANGELOG.md": "",
    "README.md": "[examples](examples/README.md)",
    "examples/README.md": "[small](small) [gone](gone.md)",
    "examples/small/README.md": "# Small",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "checkout"


def test_pages_and_the_files_that_they_link_to(root: Path, tmp_path: Path) -> None:
    written = site_source.write(root, tmp_path / "source")
    assert written["guides/one.md"] == "docs/guides/one.md"
    assert written["examples/small/README.md"] == "examples/small/README.md"
    files = (path for path in (tmp_path / "source").rglob("*") if path.is_file())
    others = {path.relative_to(tmp_path / "source").as_posix() for path in files} - set(written)
    assert others == {"plot.svg", "envs/a.json"}


def test_links_lead_to_the_new_places(root: Path, tmp_path: Path) -> None:
    site_source.write(root, tmp_path)
    assert (tmp_path / "guides/one.md").read_text() == (
        "[a](../two.md#x) [b](../CONTRIBUTING.md) [c](../envs/a.json)\n"
        "folder [d](../examples/small/README.md) ![p](../plot.svg) [e](#here) [f](https://a.b/c)\n"
    )
    assert (tmp_path / "CONTRIBUTING.md").read_text() == "[t](two.md)"


def test_the_sidebar_is_that_of_the_index(root: Path, tmp_path: Path) -> None:
    site_source.write(root, tmp_path)
    assert (
        (tmp_path / "index.md")
        .read_text()
        .endswith(
            "- [Examples](examples/README.md)\n"
            "\n```{toctree}\n:hidden:\n:caption: Guides\n\nOne <guides/one.md>\nTwo <two.md>\n```\n"
            "\n```{toctree}\n:hidden:\n:caption: Others\n\nExamples <examples/README.md>\n```\n"
        )
    )
    assert (tmp_path / "examples/README.md").read_text() == (
        "[small](small/README.md) [gone](gone.md)"
        "\n```{toctree}\n:hidden:\n\nsmall <small/README.md>\n```\n"
    )
