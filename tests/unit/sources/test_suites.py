from __future__ import annotations

import threading
from datetime import date, datetime, timezone
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.sources import debian_release
from stacks.sources.debian_release import Support
from stacks.sources.web import Web
from unit.helpers.archives import deb, member
from unit.helpers.serving import Site

TABLE = b"""\
version,codename,series,created,release,eol,eol-lts,eol-elts
10,Buster,buster,2017-06-17,2019-07-06,2022-09-10,2024-06-30,2029-06-30
11,Bullseye,bullseye,2019-07-06,2021-08-14,2024-08-14,2026-08-31,2031-06-30
12,Short,short,2021-08-14,2023-06-10,2026-07-11
14,Forky,forky,2025-08-09
,Sid,sid,1993-08-16
"""


def table(tmp_path: Path, content: bytes = TABLE, path: str = debian_release.TABLE) -> Path:
    return deb(tmp_path / "distro-info-data.deb", (member(f"./{path}"), content))


def test_the_dates_of_each_suite(tmp_path: Path) -> None:
    dates = debian_release.support_dates(table(tmp_path))
    assert dates["bullseye"] == Support(date(2021, 8, 14), date(2026, 8, 31))
    assert dates["short"] == Support(date(2023, 6, 10), date(2026, 7, 11))
    assert dates["forky"] == dates["sid"] == Support(None, None)


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (TABLE, "usr/share/doc/x"),
        (b"version,codename\n1,Buzz\n", debian_release.TABLE),
        (b"series,release,eol,eol-lts\nbuzz,soon,,\n", debian_release.TABLE),
        (b"\xff\xfe", debian_release.TABLE),
    ],
)
def test_a_table_that_cannot_be_read(tmp_path: Path, content: bytes, path: str) -> None:
    with pytest.raises(IntegrityError, match="table of suites cannot be read"):
        debian_release.support_dates(table(tmp_path, content, path))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "Valid-Until: Fri, 06 Nov 2026 20:00:00 UTC",
            datetime(2026, 11, 6, 20, tzinfo=timezone.utc),
        ),
        ("Date: Fri, 06 Nov 2026 20:00:00 UTC", None),
        ("Valid-Until: when it is ready", None),
        ("Valid-Until: Fri, 06 Nov 2026 20:00:00 -0000", None),
    ],
)
@pytest.mark.usefixtures("room")
def test_the_end_of_an_indexs_validity(site: Site, line: str, expected: datetime | None) -> None:
    site.files["/dists/forky/InRelease"] = f"Suite: testing\n{line}\nSHA256:\n".encode()
    assert debian_release.valid_until(Web(stop=threading.Event()), site.url, "forky") == expected
