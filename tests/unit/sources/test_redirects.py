"""Redirects of servers: which are followed, with which password, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stacks.core.errors import FetchError
from stacks.sources.connection import redirect_target
from unit.helpers.serving import BODY, DEB, POOL, Answer, Site

pytestmark = pytest.mark.usefixtures("room")
Got = Callable[..., bytes]


@pytest.mark.parametrize("location", [
    "http://h:99999/", "http://h:port/", "http://[::1/", "http://[half]/x",
    "file:///etc/passwd", "ftp://h/x", "gopher:x", "http://a\x01b/", "http://a\x1b[31mb/",
    "http://a\xff\xfeb/", "http://" + "a" * 300 + "/", "http://.../", "http://h\\@127.0.0.1/",
])  # fmt: skip
def test_a_malformed_redirect_names_the_file_and_the_next_mirror_is_asked(
    mirror: Site, got: Got, second: Site, location: str
) -> None:
    mirror.plans[DEB] = [Answer(302, headers={"Location": location})] * 18
    with pytest.raises(FetchError) as caught:
        got()
    message = str(caught.value)
    assert message.startswith(f"{mirror.url}{DEB}: redirected to ")
    assert "fix:" in message and message.replace("\n", "").isprintable()
    second.files[DEB] = BODY
    assert got() == BODY
    assert second.paths() == [DEB, DEB]


def test_a_redirect_loop_ends(mirror: Site, got: Got) -> None:
    mirror.plans[DEB] = [Answer(301, headers={"Location": POOL})] * 99
    mirror.plans[POOL] = [Answer(301, headers={"Location": DEB})] * 99
    with pytest.raises(FetchError, match=rf"^{mirror.url}{DEB}: redirected more than 10"):
        got()
    assert len(mirror.asked) == 11
    mirror.plans[DEB] = [Answer(302, BODY)]
    with pytest.raises(FetchError, match="the server answered 302"):
        got()


def test_a_redirect_is_followed_and_the_body_of_its_answer_is_not_read(
    mirror: Site, got: Got
) -> None:
    location = {"Location": "../else where/\xc3\xa9"}
    mirror.plans[DEB] = [Answer(302, headers=location, announced=1 << 40)]
    mirror.files["/debian/pool/main/f/else%20where/%C3%A9"] = BODY
    assert got() == BODY


@pytest.mark.parametrize(
    ("address", "location", "target"),
    [
        ("http://a/x/y", "z", "http://a/x/z"),
        ("http://a/x/y", "/z w", "http://a/z%20w"),
        ("https://a/x", "//b/z", "https://b/z"),
        ("http://a/x", "https://b:444/z", "https://b:444/z"),
        ("http://a/x", "HTTP://B/z", "http://B/z"),
        ("http://a/x", "/\xc3\xa9", "http://a/%C3%A9"),
        ("http://me:pw@a/x", "http://a/z", "http://me:pw@a/z"),
        ("http://me:pw@a/x", "https://a/z", "https://me:pw@a/z"),
        ("http://me:pw@a/x", "http://a:81/z", "http://a:81/z"),
        ("https://me:pw@a/x", "http://a/z", "http://a/z"),
    ],
)
def test_a_redirect_leads_to(address: str, location: str, target: str) -> None:
    assert redirect_target(address, address, location, lambda _: True) == target


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("http://b/x", r"(?s)^http://o/x: redirected.*https, as before.*b/x"),
        ("file://me:secret@etc/x?token=secret", "found:    file://etc/x"),
    ],
)
def test_a_refused_address_is_shown_without_its_password(location: str, message: str) -> None:
    with pytest.raises(FetchError, match=message) as caught:
        redirect_target("http://o/x", "https://me:secret@a/x", location, lambda _: False)
    assert "secret" not in str(caught.value)
