from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from stacks.core.workspace import Workspace
from stacks.project import alive
from stacks.project.alive import BUILT, Published, published, with_packages
from stacks.sources.alive import Holdings, survey
from stacks.sources.channels import LIST, PublishedChannel, channel_at
from stacks.sources.pins import CondaPin, DebPin, Pins, read_pins
from stacks.sources.web import Web
from unit.helpers.serving import Answer, Site, deb, sha256

FIRST, SECOND, OTHER = (deb(path=f"pool/{name}.deb") for name in "abc")


def package(name: str) -> CondaPin:
    file = f"{name}-1-0.conda"
    return CondaPin(
        name=name,
        version="1",
        filename=file,
        size=1,
        sha256=sha256(name.encode()),
        urls=(f"linux-64/{file}",),
    )


ONE, TWO, OWN, UNKNOWN = map(package, ("one", "two", "own", "unknown"))
PUBLISHED = Published(
    packages=(ONE, TWO, OWN, UNKNOWN), sources={ONE: (FIRST, SECOND), TWO: (SECOND,), OWN: ()}
)


@pytest.mark.parametrize(
    ("held", "direct", "counted"),
    [
        ({ONE, TWO}, set(), {ONE, TWO, FIRST, SECOND}),
        # The source of a package that the channel lacks is still needed.
        ({ONE}, set(), {ONE, FIRST}),
        # What pip installs is needed as it is.
        ({ONE, TWO}, {FIRST}, {ONE, TWO, SECOND}),
    ],
)
def test_a_channel_stands_for_the_sources_of_all_its_packages(
    held: set[CondaPin], direct: set[DebPin], counted: set[CondaPin | DebPin]
) -> None:
    published = replace(PUBLISHED, direct=frozenset(direct))
    channel, _ = with_packages([Holdings("c", frozenset(held))], published)
    assert channel.held == counted


def test_a_package_can_be_built_while_its_sources_are_somewhere() -> None:
    holdings = [Holdings("a", frozenset({FIRST})), Holdings("b", frozenset({SECOND, OTHER}))]
    *unchanged, built = with_packages(holdings, PUBLISHED)
    assert unchanged == holdings
    # OWN is made of the checkout alone; no recipe makes UNKNOWN.
    assert built == Holdings(BUILT, frozenset({ONE, TWO, OWN}))
    *_, built = with_packages(holdings[:1], PUBLISHED)
    assert built.held == {OWN}


def web() -> Web:
    return Web(stop=threading.Event(), retries=0)


@pytest.mark.usefixtures("room")
def test_without_a_channel_no_lock_is_read(tmp_path: Path) -> None:
    empty = Workspace(tmp_path / "empty", tmp_path / "cache")
    assert published(empty, Pins(), web()) == Published()


@pytest.mark.usefixtures("room")
def test_a_configured_channel_has_the_packages_of_the_locks(
    workspace: Workspace, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = channel_at(f"{site.url}/c", "x")
    monkeypatch.setattr(alive, "published_channels", lambda _: (channel,))
    found = published(workspace, read_pins(workspace.sources_lock), web())
    names = [pin.filename for pin in found.packages]
    assert len(names) == len(set(names)) and all(pin.size > 1000 for pin in found.packages)
    [python] = [p for p in found.packages if p.name == "python" and p.version.startswith("2")]
    assert python.urls == (f"linux-64/{python.filename}",)
    assert {pin.name for pin in found.sources[python]} >= {"libpython2.7-stdlib"}
    [compiled] = [pin for pin in found.packages if pin.name == "amdlibm-compat"]
    assert {pin.name for pin in found.sources[compiled]} >= {"g++-10"}
    installed = {pin.name for pin in found.direct}
    assert {"numpy", "scipy", "theano"} <= installed and "pocl-binary-distribution" not in installed
    first, second, *_ = found.packages
    site.files[f"/c/{first.urls[0]}"] = bytes(first.size)
    site.files[f"/c/{second.urls[0]}"] = b"another file"
    (holdings,) = survey(found.places, found.packages, threading.Event())
    assert holdings.place == f"{site.url}/c"
    assert holdings.held == {first} and holdings.problems.keys() == {second}


@pytest.mark.usefixtures("room")
def test_releases_that_do_not_exist_are_asked_once(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = PublishedChannel(f"{site.url}/releases", release=True, configured=False)
    monkeypatch.setattr(alive, "published_channels", lambda _: (place,))
    empty = Workspace(tmp_path / "empty", tmp_path / "cache")
    assert published(empty, Pins(), web()) == Published()
    assert site.paths() == [f"/releases/{LIST}"]


@pytest.mark.usefixtures("room")
def test_a_registry_is_asked_with_its_token(
    workspace: Workspace, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"oci+{site.url}/me/channel"
    channel = channel_at(address, "x")
    monkeypatch.setattr(alive, "published_channels", lambda _: (channel,))
    pins = read_pins(workspace.sources_lock)
    found = published(workspace, pins, web())
    package = found.packages[0]
    repository = f"me/channel/{package.urls[0].partition('/')[0]}/{package.name}"
    path = f"/v2/{repository}/blobs/sha256:{package.sha256}"
    challenge = {"WWW-Authenticate": f'Bearer realm="{site.url}/token"'}
    site.plans[path] = [Answer(401, headers=challenge)]
    site.files[path] = bytes(package.size)
    site.files[f"/token?{urlencode({'scope': f'repository:{repository}:pull'})}"] = (
        b'{"token": "open"}'
    )
    (holdings,) = survey(found.places, [package], threading.Event())
    assert holdings.held == {package}
    assert site.asked[-1].headers["authorization"] == "Bearer open"
    assert site.asked[-1].path == path and site.heads == 2
