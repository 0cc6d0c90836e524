from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources import download
from stacks.sources.fetch import fetch
from unit.helpers.serving import BODY, POOL, Answer, Site, deb, part_of, sha256


def test_a_partial_download_is_resumed(workspace: Workspace, mirror: Site) -> None:
    part = part_of(workspace, deb(), BODY[:1000])
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert [requested.headers.get("range") for requested in mirror.asked] == ["bytes=1000-"]
    assert not part.exists()


def test_a_complete_partial_download_needs_no_request(workspace: Workspace, mirror: Site) -> None:
    part_of(workspace, deb(), BODY)
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert mirror.asked == []


@pytest.mark.parametrize("part", [b"\xff" * 1000, b"\xff" * len(BODY), BODY + b"more"])
def test_a_wrong_partial_download_is_fetched_from_zero(
    workspace: Workspace, mirror: Site, part: bytes
) -> None:
    part_of(workspace, deb(), part)
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert "range" not in mirror.asked[-1].headers


def test_a_server_that_does_not_resume_sends_all_of_it(workspace: Workspace, mirror: Site) -> None:
    part_of(workspace, deb(), BODY[:1000])
    mirror.plans[f"/debian{POOL}"] = [Answer(200, BODY)]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_wrong_content_range_is_not_used(workspace: Workspace, mirror: Site) -> None:
    part_of(workspace, deb(), BODY[:1000])
    message = {"Content-Range": f"bytes 0-{len(BODY) - 1}/{len(BODY)}"}
    mirror.plans[f"/debian{POOL}"] = [Answer(206, BODY, message)]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_transfer_that_breaks_is_resumed(
    workspace: Workspace, mirror: Site, pauses: list[float]
) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(200, BODY[:5000], announced=len(BODY))]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert [requested.headers.get("range") for requested in mirror.asked] == [None, "bytes=5000-"]
    assert len(pauses) == 1


def test_a_body_that_is_too_short_is_resumed(workspace: Workspace, mirror: Site) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(200, BODY[:5000])]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_503_and_then_200(
    workspace: Workspace, mirror: Site, pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(503), Answer(502), Answer(429)]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert len(pauses) == 3
    assert 0.25 <= pauses[0] <= 0.5 <= pauses[1] <= 1.0 <= pauses[2] <= 2.0
    assert capsys.readouterr().err.count("trying again: ") == 1


def test_retry_after_is_obeyed(workspace: Workspace, mirror: Site, pauses: list[float]) -> None:
    late = {"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"}
    mirror.plans[f"/debian{POOL}"] = [
        Answer(429, headers={"Retry-After": "17"}),
        Answer(503, headers={"Retry-After": "86400"}),
        Answer(503, headers=late),
        Answer(503, headers={"Retry-After": "soon"}),
    ]
    fetch(workspace, [deb()])
    assert pauses[:2] == [17.0, download.LONGEST_PAUSE]
    assert pauses[3] < download.LONGEST_PAUSE


def test_a_server_that_stays_unavailable_is_an_error(
    workspace: Workspace, mirror: Site, pauses: list[float]
) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(503)] * 99
    with pytest.raises(FetchError, match=r"(?s)answered 503.*fix"):
        fetch(workspace, [deb()])
    assert len(pauses) == 4


def test_wrong_bytes_are_fetched_once_more_and_then_refused(
    workspace: Workspace, mirror: Site, room: Path
) -> None:
    wrong = BODY[:-1] + b"!"
    mirror.files[f"/debian{POOL}"] = wrong
    with pytest.raises(IntegrityError) as caught:
        fetch(workspace, [deb()])
    message = str(caught.value)
    assert f"foo_1.0_amd64.deb from {mirror.url}/debian{POOL}" in message
    assert f"expected: sha256 {sha256(BODY)}" in message
    assert f"found:    sha256 {sha256(wrong)}" in message
    assert len(mirror.asked) == 2
    assert list((room / "cache").rglob("foo*")) == []


def test_wrong_bytes_once_are_no_failure(workspace: Workspace, mirror: Site) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(200, b"!" * len(BODY))]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_body_that_never_ends_is_cut(workspace: Workspace, mirror: Site) -> None:
    mirror.files[f"/debian{POOL}"] = BODY * 20
    with pytest.raises(IntegrityError):
        fetch(workspace, [deb()])


def test_content_encoding_does_not_change_the_hashed_bytes(
    workspace: Workspace, mirror: Site
) -> None:
    packed = gzip.compress(BODY)
    pin = deb(packed)
    gzipped = {"Content-Encoding": "gzip", "Content-Type": "application/x-tar"}
    mirror.plans[f"/debian{POOL}"] = [Answer(200, packed, gzipped)]
    assert fetch(workspace, [pin])[pin].read_bytes() == packed
