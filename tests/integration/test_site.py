"""The site of the documentation: made twice, and read in a browser as files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from integration.browser import browser
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.project import documentation

WIDE = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def made(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "new"
    documentation.build_site(workspace, folder)
    return folder


def test_the_same_bytes_elsewhere_and_later(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a copy of the pages, with the files' times of today, in another folder and language."""
    root = tmp_path / "naïve cöpy"
    shutil.copytree(REPOSITORY / "docs", root / "docs", copy_function=shutil.copyfile)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md"):
        shutil.copyfile(REPOSITORY / name, root / name)
    for name in ("envs", "examples", "measurements", "recipes", "results", "verify"):
        (root / name).symlink_to(REPOSITORY / name)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    other = tmp_path / "other"
    umask = os.umask(0o077)
    try:
        documentation.build_site(Workspace(root, tmp_path / "cache"), other)
    finally:
        os.umask(umask)
    assert files(other) == files(made)
    texts = b"".join(files(made).values())
    assert str(REPOSITORY).encode() not in texts and str(made.parent).encode() not in texts
    # A page with a broken link changes nothing.
    (root / "docs/tutorial.md").write_text("# Tutorial\n\n[x](nosuch.md) [y](index.md#no-such)\n")
    with pytest.raises(StacksError, match=r"2 faults\n.*docs/tutorial\.md:3: .*nosuch\.md"):
        documentation.build_site(Workspace(root, tmp_path / "cache"), other)
    assert files(other) == files(made)


def test_no_page_is_wider_than_a_telephone_or_asks_other_hosts(made: Path) -> None:
    wide = []
    with browser(width=390) as page:
        for path in sorted(made.rglob("*.html")):
            page.open(path)
            # The page of timings, which the site offers as a file, has a test of its own.
            if "_downloads" not in path.parts and page.run(WIDE):
                wide.append(path.name)
        assert wide == []
        # Chromium does not let the search read pages, for its excerpts, where these are files.
        page.console()
        page.open(made / "tutorial.html")
        assert {request.partition(":")[0] for request in page.requests()} == {"file"}
        assert page.console() == []
