from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import cached_path
from unit.helpers.serving import BODY, Site, deb, sha256

pytestmark = pytest.mark.usefixtures("room")


def test_the_cache_is_addressed_by_content(workspace: Workspace, mirror: Site, room: Path) -> None:
    digest = sha256(BODY)
    expected = room / "cache/sources/sha256" / digest[:2] / digest / "foo_1.0_amd64.deb"
    assert fetch(workspace, [deb()]) == {deb(): expected}
    assert list(expected.parent.glob("*.part")) == []


@pytest.mark.parametrize("change", [
    {"path": "pool/.."}, {"path": "pool/"}, {"path": "pool/-x"}, {"path": "pool/a\nb"},
    {"sha256": "../" * 3 + "x"}, {"sha256": ""},
])  # fmt: skip
def test_a_pin_cannot_name_a_path_outside_its_folder(
    workspace: Workspace, change: dict[str, Any]
) -> None:
    with pytest.raises(IntegrityError, match="cannot be a file of the cache") as caught:
        cached_path(workspace, replace(deb(), **change))
    assert caught.value.expected and caught.value.found
