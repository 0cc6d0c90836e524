"""A small publication in place of that of the committed locks."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.distribution import channel
from stacks.locks.publication import Publication
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import publication, write_packages


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publication:
    """Have a small publication in place of that of the committed locks."""
    found = publication()
    paths = write_packages(found, tmp_path / "files")
    monkeypatch.setattr(channel, "publication", lambda *_: found)
    monkeypatch.setattr(channel, "prepare", lambda *_: (found, paths))
    return found


@pytest.fixture
def folder(found: Publication, tmp_path: Path) -> Path:
    channel.publish_to_folder(CHECKOUT, tmp_path / "published")
    return tmp_path / "published"
