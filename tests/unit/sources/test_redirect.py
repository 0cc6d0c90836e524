from __future__ import annotations

import pytest

from stacks.core.errors import FetchError
from stacks.sources.redirect import redirect_target


@pytest.mark.parametrize(
    ("address", "location", "target"),
    [
        ("http://a/x/y", "z", "http://a/x/z"),
        ("http://a/x/y", "/z w", "http://a/z%20w"),
        ("https://a/x", "//b/z", "https://b/z"),
        ("http://a/x", "https://b:444/z", "https://b:444/z"),
        ("http://a/x", "HTTP://B/z", "HTTP://B/z"),
        ("http://a/x", "/\xc3\xa9", "http://a/%C3%A9"),
        ("http://me:pw@a/x", "/z", "http://me:pw@a/z"),
        ("http://me:pw@a/x", "http://a/z", "http://me:pw@a/z"),
        ("http://me:pw@a/x", "https://a/z", "https://me:pw@a/z"),
        ("http://me:pw@a/x", "http://b/z", "http://b/z"),
        ("http://me:pw@a/x", "http://a:81/z", "http://a:81/z"),
        ("https://me:pw@a/x", "http://a/z", "http://a/z"),
    ],
)
def test_a_redirect_leads_to(address: str, location: str, target: str) -> None:
    assert redirect_target(address, address, location, trusted=True) == target


def test_http_after_https_is_refused() -> None:
    with pytest.raises(FetchError, match=r"(?s)^https://a/x: redirected.*https, as before.*b/x"):
        redirect_target("https://me:pw@a/x", "https://a/x", "http://b/x")


def test_a_refused_address_is_shown_without_its_password() -> None:
    with pytest.raises(FetchError, match="found:    file://etc/x") as caught:
        redirect_target("http://a/x", "http://a/x", "file://me:secret@etc/x?token=secret")
    assert "secret" not in str(caught.value)
