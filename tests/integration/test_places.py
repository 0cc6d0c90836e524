"""Environments from published channels and from sources: the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from integration.published import move_packages, packages, share_sources
from integration.test_serve import serving_folder
from integration.tiny import Tiny, tree
from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.sources.channels import CHANNEL
from stacks.sources.mirrors import VARIABLE as VENDOR

pytestmark = pytest.mark.usefixtures("no_other_place")


@pytest.fixture
def published(tiny: Tiny, tmp_path: Path) -> Path:
    """Give a channel with the packages of `tiny`, which the cache no longer has."""
    return move_packages(tiny, tmp_path / "published")


def test_a_published_channel_and_the_sources_give_the_same_bytes(
    workspace: Workspace,
    tiny: Tiny,
    published: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving_folder(published) as address:
        monkeypatch.setenv(CHANNEL, address)
        fetched = tree(tiny.make("by-conda"))
        assert f"0 packages built, 6 fetched from {address}, 0 from the cache" in (
            capsys.readouterr().err
        )
        assert packages(tiny.cache) == packages(published)
        # What came from a place does not count as built here.
        share_sources(workspace, tiny)
        shutil.rmtree(tiny.place("by-conda"))
        pipeline.make_environment(
            tiny.workspace, tiny.variant("by-conda"), tiny.place("by-conda"), from_sources=True
        )
    assert "6 packages built, 0 from the cache" in capsys.readouterr().err
    assert packages(tiny.cache) == packages(published)
    assert tree(tiny.place("by-conda")) == fetched


def test_from_sources_asks_no_place(
    tiny: Tiny, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHANNEL, str(published))
    with pytest.raises(FetchError):
        pipeline.make_environment(
            tiny.workspace, tiny.variant("by-conda"), tiny.place("by-conda"), from_sources=True
        )
    assert packages(tiny.cache) == {}


def test_the_vendored_folder_comes_first(
    tiny: Tiny,
    published: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(published, tmp_path / "carried/channel")
    monkeypatch.setenv(VENDOR, str(tmp_path / "carried"))
    monkeypatch.setenv(CHANNEL, "http://127.0.0.1:9")
    tiny.make("by-conda")
    errors = capsys.readouterr().err
    assert f"6 fetched from {tmp_path / 'carried/channel'}" in errors
    assert "warning" not in errors
