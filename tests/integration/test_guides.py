"""The tutorial and the guides, typed as they are: each block of commands, in order, by a shell.

What is not run is marked in the page, and skipped here with the page's reason.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.guides import Block, blocks_of, missing
from stacks.core.disk import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = [DOCS / "tutorial.md", *sorted(DOCS.glob("guides/*.md"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, prefix: Callable[[str, str], Path]) -> Path:
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
        ["sh", "-eu", "-c", block.content],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    assert missing(block.output, done.stdout) == [], done.stdout


def test_the_tutorial_is_run_but_for_what_it_says() -> None:
    tutorial = [block for block in BLOCKS if block.page == PAGES[0]]
    assert [block.content.split()[0] for block in tutorial if block.reason] == [
        "git",
        "./invoke",
        "./invoke",
    ]
    assert sum(not block.reason for block in tutorial) == 5
