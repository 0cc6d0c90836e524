"""What is refused before the site is made, and the faults of its pages."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.project import site


def test_faults_have_the_pages_own_paths() -> None:
    source = Path("/tmp/scratch/source")
    warnings = (
        "/tmp/scratch/source/guides/a.md:7: WARNING: image file not readable: guides/no.png\n"
        "WARNING: something else\n"
    )
    assert site.faults_of(warnings, source, {"guides/a.md": "docs/guides/a.md"}) == [
        "docs/guides/a.md:7: WARNING: image file not readable: guides/no.png",
        "WARNING: something else",
    ]


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="is there and is no site that this command wrote"):
        site.build(Workspace(tmp_path, tmp_path), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} cannot be served"):
            site.serve(tmp_path, port)


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


def test_links_lead_to_the_new_places_of_pages_and_of_the_files_that_come_along(
    root: Path, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    written = site.write_source(root, source)
    assert written["guides/one.md"] == "docs/guides/one.md"
    assert written["examples/small/README.md"] == "examples/small/README.md"
    files = (path for path in source.rglob("*") if path.is_file())
    others = {path.relative_to(source).as_posix() for path in files} - set(written)
    assert others == {"plot.svg", "envs/a.json"}
    assert (source / "guides/one.md").read_text() == (
        "[a](../two.md#x) [b](../CONTRIBUTING.md) [c](../envs/a.json)\n"
        "folder [d](../examples/small/README.md) ![p](../plot.svg) [e](#here) [f](https://a.b/c)\n"
    )
    assert (source / "CONTRIBUTING.md").read_text() == "[t](two.md)"


def test_the_sidebar_is_that_of_the_index(root: Path, tmp_path: Path) -> None:
    site.write_source(root, tmp_path)
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
