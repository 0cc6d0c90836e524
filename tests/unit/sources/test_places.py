"""Places of pinned files: which channels are asked, where each has a package, who has what."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources import places
from stacks.sources.mirrors import VARIABLE as VENDOR
from stacks.sources.pins import DebPin, LockedPackage, Pin
from stacks.sources.places import (
    CHANNEL,
    Holdings,
    Place,
    channel_at,
    mirror_place,
    published_places,
    release_address,
)
from stacks.sources.web import TransientError, Web
from unit.helpers.checkout import git
from unit.helpers.serving import BODY, POOL, Answer, Request, Site, deb, web_server

pytestmark = pytest.mark.usefixtures("room")
SHA256, FILE = "a" * 64, "six-1.16.0-py_0.conda"
SIX = LockedPackage("six", "1.16.0", "py_0", f"c/noarch/{FILE}", SHA256, "0" * 32, 9)
WEB = Web(stop=threading.Event())


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a checkout without places."""
    for name in (VENDOR, CHANNEL):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "checkout").mkdir()
    return Workspace(tmp_path / "checkout", tmp_path / "cache")


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


@pytest.mark.parametrize(
    "address", ["ftp://h.example/c", "http://", "https:///c", "http://[/c", "oci://C/"]
)
def test_an_address_that_cannot_be_used_is_refused(
    own: Workspace, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(CHANNEL, address)
    with pytest.raises(UsageError, match=CHANNEL):
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


OTHER = "/pool/main/b/bar/bar_1.0_amd64.deb"


def web() -> Web:
    return Web(stop=threading.Event(), retries=1)


def holdings_at(root: str, *pins: DebPin) -> Holdings:
    (holdings,) = places.survey([mirror_place(web(), root)], pins, threading.Event())
    return holdings


def test_a_place_is_asked_over_one_connection_for_the_sizes_only() -> None:
    connections, methods = set(), set()

    def reply(request: Request) -> None:
        connections.add(request.client_address)
        methods.add(request.command)
        request.send(200, {}, BODY)

    pins = [deb(path=f"pool/{number}.deb") for number in range(20)]
    with web_server(reply, keeps=True) as port:
        holdings = holdings_at(f"http://127.0.0.1:{port}", *pins)
    assert holdings == Holdings(f"http://127.0.0.1:{port}", frozenset(pins))
    assert len(connections) == 1 and methods == {"HEAD"}


@pytest.mark.parametrize(
    ("answers", "held", "problem", "failure"),
    [
        ([], True, None, None),
        ([Answer(404)], False, None, None),
        ([Answer(200, b"a page")], False, "answers with 6 bytes; pinned are", None),
        ([Answer(403)], False, "answered 403", None),
        ([Answer(429, headers={"Retry-After": "7"})], True, None, None),
        # A server that stays busy is left alone.
        ([Answer(503)] * 2, False, None, "answered 503"),
    ],
)
def test_what_an_answer_says(
    site: Site, answers: list[Answer], held: bool, problem: str | None, failure: str | None
) -> None:
    site.files |= {POOL: BODY, OTHER: BODY}
    site.plans[POOL] = list(answers)
    holdings = holdings_at(site.url, deb(), deb(path=OTHER))
    assert holdings.held == {*([deb()] if held else []), *([] if failure else [deb(path=OTHER)])}
    assert (problem or "") in holdings.problems.get(deb(), "") and len(holdings.problems) == (
        problem is not None
    )
    assert (failure or "") in (holdings.failure or "") and bool(holdings.failure) == bool(failure)


def test_errors_of_a_place_differ_from_those_of_a_file_and_a_stop_ends_all() -> None:
    def place(error: BaseException) -> Place:
        def urls(pin: Pin) -> Sequence[str]:
            raise error

        return Place("a", web(), (DebPin,), urls)

    both, stop = [place(TransientError("busy")), place(FetchError("refused"))], threading.Event()
    a, b = places.survey(both, [deb()], stop)
    assert (a.failure, a.problems) == ("busy", {})
    assert (b.failure, b.problems) == (None, {deb(): "refused"})
    with pytest.raises(KeyboardInterrupt):
        places.survey([place(KeyboardInterrupt())], [deb()], stop)
    assert stop.is_set()
