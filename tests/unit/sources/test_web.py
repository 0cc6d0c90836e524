from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from unit.helpers.serving import BODY, POOL, SECRET, Answer, Site, closed_port, deb

pytestmark = pytest.mark.usefixtures("room")


def test_no_network_names_the_host_and_the_reason(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = closed_port()
    monkeypatch.setenv("DEBIAN_MIRROR", f"http://me:{SECRET}@127.0.0.1:{port}/debian")
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [deb()])
    assert f"127.0.0.1:{port} cannot be reached: Connection refused" in str(caught.value)
    assert "fix" in str(caught.value)
    assert SECRET not in str(caught.value) + capsys.readouterr().err


def test_a_proxy_that_is_away_is_named(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:{SECRET}@127.0.0.1:{closed_port()}")
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.invalid/debian")
    with pytest.raises(FetchError, match="through the proxy: Connection refused") as caught:
        fetch(workspace, [deb()])
    assert SECRET not in str(caught.value)


def test_the_environments_proxy_is_used(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", mirror.url)
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.invalid/debian")
    mirror.files[f"http://mirror.invalid/debian{POOL}"] = BODY
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


@pytest.mark.parametrize("root", ["http://[half/debian", "http:///debian"])
def test_an_invalid_address_is_an_error(
    workspace: Workspace, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", root)
    with pytest.raises(FetchError, match=r"(?s)fix.*spelling"):
        fetch(workspace, [deb()])


def test_a_refusal_speaks_of_the_password_and_does_not_show_it(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = mirror.url.replace("//", f"//me:{SECRET}@")
    monkeypatch.setenv("DEBIAN_MIRROR", f"{address}/debian")
    mirror.plans[f"/debian{POOL}"] = [Answer(401)]
    with pytest.raises(FetchError, match=r"(?s)answered 401.*password") as caught:
        fetch(workspace, [deb()])
    assert SECRET not in str(caught.value)
    assert mirror.asked[0].headers["authorization"].startswith("Basic ")


def test_a_missing_ca_bundle_is_an_error(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch, room: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(room / "nosuch.pem"))
    monkeypatch.setenv("DEBIAN_MIRROR", mirror.url.replace("http:", "https:"))
    with pytest.raises(FetchError, match=r"(?s)fix.*CA bundle"):
        fetch(workspace, [deb()])
