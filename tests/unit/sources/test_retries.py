from __future__ import annotations

import pytest

from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources import retries
from stacks.sources.fetch import fetch
from unit.helpers.serving import BODY, POOL, Answer, Site, deb


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
    assert pauses[:2] == [17.0, retries.LONGEST_PAUSE]
    assert pauses[3] < retries.LONGEST_PAUSE


def test_a_server_that_stays_unavailable_is_an_error(
    workspace: Workspace, mirror: Site, pauses: list[float]
) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(503)] * 99
    with pytest.raises(FetchError, match=r"(?s)answered 503.*fix"):
        fetch(workspace, [deb()])
    assert len(pauses) == 4
