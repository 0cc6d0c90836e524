from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from unit.helpers.serving import BODY, Site, deb, sha256

pytestmark = pytest.mark.usefixtures("room")


def test_the_cache_is_addressed_by_content(workspace: Workspace, mirror: Site, room: Path) -> None:
    digest = sha256(BODY)
    expected = room / "cache/sources/sha256" / digest[:2] / digest / "foo_1.0_amd64.deb"
    assert fetch(workspace, [deb()]) == {deb(): expected}
    assert list(expected.parent.glob("*.part")) == []
