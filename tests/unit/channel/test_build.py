from __future__ import annotations

import re
import time
from typing import Any

import pytest

from stacks.channel import build as package_builds
from stacks.channel import offers as offers_module
from stacks.channel.offers import Channel, Offer
from stacks.core import console
from stacks.core.workspace import Workspace
from unit.helpers.checkout import CHECKOUT


@pytest.fixture(scope="module")
def channel() -> Channel:
    return offers_module.read_channel(CHECKOUT)


def test_no_missing_package_builds_nothing(workspace: Workspace, channel: Channel) -> None:
    assert package_builds.build_packages(workspace, channel, []) == {}


def wait_for_line(capsys: pytest.CaptureFixture[str]) -> str:
    shown, end = "", time.monotonic() + 10
    while "gxx" not in shown and time.monotonic() < end:
        shown += capsys.readouterr().err
    return shown


def test_a_package_is_built_after_its_tools(
    own_workspace: Workspace,
    channel: Channel,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events, shown = [], []
    monkeypatch.setattr(console, "BEAT", 0.01)

    class NoProcess:
        def call(self, _: object, workspace: Workspace, offer: Offer, *rest: object) -> Any:
            events.append(("began", offer.recipe.package.name))
            if offer.recipe.package.name == "gxx":
                shown.append(wait_for_line(capsys))
            events.append(("ended", offer.recipe.package.name))
            return offer.recipe.package.name, []

        def end(self) -> None:
            pass

    monkeypatch.setattr(package_builds, "BuildProcess", NoProcess)
    monkeypatch.setattr(package_builds, "fetch", lambda *_: None)
    names = {"blas-threads", "gxx", "libopenblas", "mako", "markupsafe"}
    offers = [each for each in channel.offers.values() if each.recipe.package.name in names]
    package_builds.build_packages(own_workspace, channel, offers)
    assert len(events) == 2 * len(offers) >= 10
    # A log says what it waits for.
    [gxx] = [each for each in offers if each.recipe.package.name == "gxx"]
    assert re.search(
        rf"channel \(.*gxx {gxx.recipe.package.version}.*, \d of {len(offers)} packages built\)",
        shown[0],
    )
    pairs = [(each, tool) for each in offers for tool in each.tools]
    assert {tool.recipe.package.name for _, tool in pairs} == {"gxx"}
    for each, tool in pairs:
        ended = events.index(("ended", tool.recipe.package.name))
        assert ended < events.index(("began", each.recipe.package.name))
