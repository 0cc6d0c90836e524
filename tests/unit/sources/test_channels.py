"""Which published channels are asked, in which order, and where each has a package."""

from __future__ import annotations

import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core import yamlfile
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources import channels
from stacks.sources.channels import (
    CHANNEL,
    channel_at,
    published_places,
    release_address,
    release_at,
)
from stacks.sources.mirrors import VARIABLE as VENDOR
from stacks.sources.pins import CondaPin
from stacks.sources.web import Web

SHA256, FILE = "a" * 64, "six-1.16.0-py_0.conda"
SIX = CondaPin(
    name="six", version="1.16.0", filename=FILE, size=9, sha256=SHA256, urls=(f"noarch/{FILE}",)
)
WEB = Web(stop=threading.Event())


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a checkout without places."""
    for name in (VENDOR, CHANNEL):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "checkout").mkdir()
    return Workspace(tmp_path / "checkout", tmp_path / "cache")


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)


def test_the_order_is_vendored_environment_committed_release(
    own: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    git(own.root, "init", "-q")
    git(own.root, "remote", "add", "origin", "git@github.com:someone/stacks.git")
    (own.root / "channels.yaml").write_text("channels: ['https://c.example/x/']\n")
    (tmp_path / "50% é").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VENDOR, str(tmp_path / "50% é"))
    monkeypatch.setenv(CHANNEL, "http://me:hunter2@a.example/x/, b\nhttps://c.example/x")
    asked = published_places(own)
    assert [(place.name, place.warns) for place in asked] == [
        ("50% é/channel", True),
        ("http://a.example/x", True),
        ("b", True),
        ("https://c.example/x", True),
        ("https://github.com/someone/stacks/releases/download/channel", False),
    ]
    # Others can take over from one that does not answer soon.
    assert [place.web.timeout for place in asked] == [5.0] * 4 + [2.0]
    assert {place.web.timeout for place in published_places(own, WEB)} == {WEB.timeout}


def test_a_checkout_without_a_remote_of_its_own_or_git_has_no_release(
    own: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(own.root.parent, "init", "-q")
    git(own.root.parent, "remote", "add", "origin", "https://github.com/someone/other")
    assert published_places(own) == []
    git(own.root, "init", "-q")
    assert published_places(own) == []
    monkeypatch.setenv("PATH", "")
    assert published_places(own) == []


def test_the_committed_list_can_be_read() -> None:
    root = Path(channels.__file__).parents[2]
    assert yamlfile.load(root / channels.COMMITTED, channels._Channels).channels == ()


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://h.example:8/c/", f"http://h.example:8/c/noarch/{FILE}"),
        ("file:///some/where", f"file:///some/where/noarch/{FILE}"),
        ("/some/where", f"file:///some/where/noarch/{FILE}"),
        ("oci://h.example/c", f"https://h.example/v2/c/noarch/six/blobs/sha256:{SHA256}"),
        ("oci+http://h.example:5/c", f"http://h.example:5/v2/c/noarch/six/blobs/sha256:{SHA256}"),
    ],
)
def test_a_static_channel_has_folders_and_a_registry_has_blobs(address: str, url: str) -> None:
    assert channel_at(address, "here", WEB).urls(SIX) == [url]


def test_a_release_has_flat_names() -> None:
    plus = replace(SIX, filename="g++-1-0.conda")
    assert release_at("https://h.example/r", WEB).urls(plus) == [
        "https://h.example/r/g++-1-0.conda"
    ]


@pytest.mark.parametrize(
    "address", ["ftp://h.example/c", "http://", "https:///c", "http://[/c", "oci://C/"]
)
def test_an_address_that_cannot_be_used_is_refused(
    own: Workspace, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(CHANNEL, address)
    with pytest.raises(UsageError, match=CHANNEL):
        published_places(own)


def test_a_damaged_list_names_its_line(own: Workspace) -> None:
    (own.root / "channels.yaml").write_text("channels: yes\n")
    with pytest.raises(UsageError, match=r"channels\.yaml:1"):
        published_places(own)


GITHUB = "https://github.com/a/b/releases/download/channel"


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/a/b", GITHUB),
        ("https://me:pw@github.com/a/b.git/", GITHUB),
        ("git@github.com:a/b.git", GITHUB),
        ("ssh://git@github.com:22/a/b", GITHUB),
        *(
            (remote, None)
            for remote in (
                *("https://h.example/a/b", "https://github.com.evil.example/a/b", ""),
                *("/srv/github.com/a/b", "https://github.com/a", "https://github.com/a/b?x=/c/d"),
            )
        ),
    ],
)
def test_a_remote_on_github_has_a_release(remote: str, address: str | None) -> None:
    assert release_address(remote) == address
