"""The channel in a registry as rattler uses it, which asks only by TLS on port 443."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from rattler.exceptions import InstallerError
from rattler.networking import Client, OciMiddleware

from integration.published import locked_by
from integration.registries import USER, Running, registry_with_tokens
from integration.test_serve import install, solve
from integration.tiny import Tiny, flip
from stacks.distribution.channel import publish_channel

pytestmark = pytest.mark.usefixtures("publishable")
PORT = 443


@pytest.fixture
def running(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Running, str]]:
    """Give a registry with the channel of `tiny`, and the channel's address."""
    with closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", PORT))
        except OSError as error:
            pytest.skip(f"no program may listen on port {PORT} here: {error.strerror}")
    with registry_with_tokens(tmp_path / "registry", PORT) as running:
        for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
            monkeypatch.setenv(name, str(running.ca))
        (tmp_path / "docker").mkdir()
        auths = {"auths": {"localhost": {"auth": USER}}}
        (tmp_path / "docker/config.json").write_text(json.dumps(auths))
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
        publish_channel(tiny.workspace, running.address("stacks"))
        yield running, "oci://localhost/stacks"


def test_rattler_solves_and_installs_from_a_registry(
    tiny: Tiny, running: tuple[Running, str], tmp_path: Path
) -> None:
    (registry, address), client = running, Client([OciMiddleware()])
    environment = tiny.locks / "tiny/by-conda/environment.yml"
    registry.scopes.clear()
    records = solve(address, environment, tmp_path / "index", client)
    assert {(r.file_name, r.sha256.hex()) for r in records if r.sha256} == {
        (p.file_name, p.sha256) for p in locked_by(tiny, "by-conda").packages
    }
    install(records, tmp_path / "environment", tmp_path / "cache", client)
    assert (tmp_path / "environment/lib/python2.7/site-packages/six.py").is_file()
    assert ("repository:stacks/noarch/six:pull", False) in registry.scopes


def test_rattler_refuses_changed_bytes_of_a_registry(
    tiny: Tiny, running: tuple[Running, str], tmp_path: Path
) -> None:
    (registry, address), client = running, Client([OciMiddleware()])
    environment = tiny.locks / "tiny/by-conda/environment.yml"
    [six] = [p.sha256 for p in locked_by(tiny, "by-conda").packages if p.name == "six"]
    [blob] = registry.data.glob(f"**/blobs/sha256/*/{six}/data")
    flip(blob)
    records = solve(address, environment, tmp_path / "index", client)
    with pytest.raises(InstallerError, match="six"):
        install(records, tmp_path / "environment", tmp_path / "cache", client)
    assert not (tmp_path / "environment/lib/python2.7/site-packages/six.py").exists()
