from __future__ import annotations

import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from stacks.core import yamlfile
from stacks.core.errors import FetchError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources import channels
from stacks.sources.channels import (
    CHANNEL,
    PublishedChannel,
    channel_at,
    published_channels,
    release_address,
)
from stacks.sources.mirrors import VARIABLE as VENDOR
from stacks.sources.pins import CondaPin
from stacks.sources.web import environment_web
from unit.helpers.serving import raw_serving

SHA256, FILE = "a" * 64, "six-1.16.0-py_0.conda"
SIX = CondaPin(
    name="six", version="1.16.0", filename=FILE, size=9, sha256=SHA256, urls=(f"noarch/{FILE}",)
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a checkout without places."""
    for name in (VENDOR, CHANNEL):
        monkeypatch.delenv(name, raising=False)
    return Workspace(tmp_path / "checkout", tmp_path / "cache")


@pytest.fixture
def root(own: Workspace) -> Path:
    own.root.mkdir()
    return own.root


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)


def test_the_order_is_vendored_environment_committed_release(
    own: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    git(root, "init", "-q")
    git(root, "remote", "add", "origin", "git@github.com:someone/stacks.git")
    (root / "channels.yaml").write_text("channels: ['https://c.example/x/']\n")
    (tmp_path / "carried").mkdir()
    monkeypatch.setenv(VENDOR, str(tmp_path / "carried"))
    monkeypatch.setenv(CHANNEL, f"http://a.example/x/, {tmp_path}/b\nhttps://c.example/x")
    asked = published_channels(own)
    assert [place.address for place in asked] == [
        (tmp_path / "carried/channel").as_uri(),
        "http://a.example/x",
        (tmp_path / "b").as_uri(),
        "https://c.example/x",
        "https://github.com/someone/stacks/releases/download/channel",
    ]
    assert [place.configured for place in asked] == [True] * 4 + [False]


def test_a_checkout_without_a_remote_of_its_own_or_git_has_no_release(
    own: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(root.parent, "init", "-q")
    git(root.parent, "remote", "add", "origin", "https://github.com/someone/other")
    assert published_channels(own) == ()
    git(root, "init", "-q")
    assert published_channels(own) == ()
    monkeypatch.setenv("PATH", "")
    assert published_channels(own) == ()


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
    assert channel_at(address, "here").url(SIX) == url


def test_a_release_has_flat_names() -> None:
    place = PublishedChannel("https://h.example/r", release=True)
    assert place.url(SIX) == f"https://h.example/r/{FILE}"


def test_only_a_build_gives_up_a_release_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LONGEST_LOOKUP", 0.05)

    def slow(connection: socket.socket) -> None:
        time.sleep(0.5)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with raw_serving(slow) as address:
        channel, stop = PublishedChannel(address, release=True, configured=False), threading.Event()
        channel.place(environment_web(stop)).check()
        with pytest.raises(FetchError, match=r"no answer within 0\.05 s"):
            channel.quick_place(stop).check()


def test_the_name_is_short_and_has_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = channel_at("50% é", "here")
    assert (place.folder, place.name) == (tmp_path / "50% é", "50% é")
    assert channel_at("https://me:hunter2@h.example/c", "here").name == "https://h.example/c"


@pytest.mark.parametrize(
    "address", ["ftp://h.example/c", "http://", "https:///c", "http://[/c", "oci://C/"]
)
def test_an_address_that_cannot_be_used_is_refused(
    own: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(CHANNEL, address)
    with pytest.raises(UsageError) as caught:
        published_channels(own)
    assert CHANNEL in str(caught.value)


def test_a_damaged_list_names_its_line(own: Workspace, root: Path) -> None:
    (root / "channels.yaml").write_text("channels: yes\n")
    with pytest.raises(UsageError, match=r"channels\.yaml:1"):
        published_channels(own)


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/a/b", "https://github.com/a/b/releases/download/channel"),
        ("https://me:pw@github.com/a/b.git/", "https://github.com/a/b/releases/download/channel"),
        ("git@github.com:a/b.git", "https://github.com/a/b/releases/download/channel"),
        ("ssh://git@codeberg.org/a/b.git", "https://codeberg.org/a/b/releases/download/channel"),
        ("ssh://git@github.com:22/a/b", "https://github.com/a/b/releases/download/channel"),
        (
            "https://gitlab.com/group/sub/b.git",
            "https://gitlab.com/group/sub/b/-/releases/channel/downloads",
        ),
        ("https://h.example/a/b", None),
        ("https://github.com.evil.example/a/b", None),
        ("/srv/github.com/a/b", None),
        ("https://github.com/a", None),
        ("https://github.com/a/b?x=/c/d", None),
        ("", None),
    ],
)
def test_a_remote_on_a_known_forge_has_releases(remote: str, address: str | None) -> None:
    assert release_address(remote) == address
