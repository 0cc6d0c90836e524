from __future__ import annotations

import pytest

from stacks.channel import build as package_builds
from stacks.channel import offers as offers_module
from stacks.channel.offers import Channel
from stacks.core.workspace import Workspace
from unit.helpers.checkout import CHECKOUT


@pytest.fixture(scope="module")
def channel() -> Channel:
    return offers_module.read_channel(CHECKOUT)


def test_no_missing_package_builds_nothing(workspace: Workspace, channel: Channel) -> None:
    assert package_builds.build_missing(workspace, channel, []) == {}
