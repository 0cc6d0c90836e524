from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import pytest
import zstandard

from stacks.sources.streams import BrokenError, decompressed, limited, section_of_ar
from unit.helpers.archives import ar

BODY = bytes(range(256)) * 999


@pytest.mark.parametrize(
    "compress", [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.compress]
)
def test_the_first_bytes_name_the_compression(compress: Callable[[bytes], bytes]) -> None:
    stream = io.BufferedReader(io.BytesIO(compress(BODY)))
    assert decompressed(stream).read() == BODY


def test_a_stream_may_have_as_many_bytes_as_its_limit() -> None:
    assert limited(io.BytesIO(BODY), len(BODY)).read() == BODY
    with pytest.raises(BrokenError, match="far more than its size"):
        limited(io.BytesIO(BODY), len(BODY) - 1).read()


def test_a_member_of_an_ar_archive_is_read() -> None:
    archive = ar(("a", b"1"), ("data.tar.xz", BODY), ("c", b"3"))
    assert section_of_ar(io.BytesIO(archive), "data.tar").read() == BODY


@pytest.mark.parametrize(
    ("archive", "reason"),
    [
        (b"PK", "not an ar archive"),
        (ar(("a", b"1")), r"has no data\.tar"),
        (ar(("data.tar", b""))[:-5], "header is broken"),
        (ar(("data.tar", b"")).replace(b"0         `", b"-1        `"), "header is broken"),
    ],
)
def test_a_broken_ar_archive_is_refused(archive: bytes, reason: str) -> None:
    with pytest.raises(BrokenError, match=reason):
        section_of_ar(io.BytesIO(archive), "data.tar")


def test_a_truncated_member_is_an_error() -> None:
    archive = ar(("data.tar", BODY))
    with pytest.raises(EOFError, match="truncated"):
        section_of_ar(io.BytesIO(archive[:-9]), "data.tar").read()
