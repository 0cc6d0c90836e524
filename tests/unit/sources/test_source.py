from __future__ import annotations

import threading

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.sources.source import Source, archive_error, raise_missing, worst
from stacks.sources.web import MissingError, Web
from unit.helpers.serving import deb

MISSING, AWAY, LIES = MissingError("gone"), FetchError("away"), IntegrityError("other bytes")


@pytest.fixture
def source() -> Source:
    return Source(
        Web(stop=threading.Event()),
        ("http://a.test/x", "http://b.test/x"),
        ("http://a.test", "http://b.test"),
        more=lambda: ("http://c.test/x",),
        archives=lambda: ("http://old.test",),
    )


def test_wrong_bytes_are_shown_before_what_is_away_or_missing() -> None:
    assert worst([MISSING, AWAY, LIES]) is LIES
    assert worst([MISSING, AWAY, MISSING]) is AWAY
    assert worst([MISSING]) is None
    assert worst([]) is None


def test_further_addresses_come_last(source: Source) -> None:
    assert list(source.all_urls()) == ["http://a.test/x", "http://b.test/x", "http://c.test/x"]


def test_an_archive_that_fails_is_named_beside_the_mirrors(source: Source) -> None:
    message = str(archive_error(deb(), source, AWAY))
    assert message.startswith("foo 1.0 (foo_1.0_amd64.deb) is not at: http://a.test, http://b.test")
    assert "  found:    away" in message
    assert archive_error(deb(), source, LIES) is LIES


def test_what_is_nowhere_is_named_with_every_place(source: Source) -> None:
    with pytest.raises(FetchError, match=r"is not at: http://a\.test, http://b\.test, http://old"):
        raise_missing([deb()], {deb(): source})
    raise_missing([], {})
