from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import Pin
from unit.helpers.serving import Site, deb, serving


@pytest.fixture
def got(workspace: Workspace, room: Path) -> Callable[..., bytes]:
    """Give the function that fetches a pinned file and returns its bytes; by default a deb."""

    def got(pin: Pin | None = None) -> bytes:
        pin = pin or deb()
        return fetch(workspace, [pin])[pin].read_bytes()

    return got


@pytest.fixture
def second(mirror: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Give a second mirror, which has nothing yet."""
    with serving() as second:
        monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{second.url}/debian")
        yield second
