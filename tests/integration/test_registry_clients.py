"""The channel in a registry as rattler uses it, which asks only by TLS on port 443."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import rattler
import yaml
from rattler.exceptions import InstallerError
from rattler.networking import Client, OciMiddleware

from integration.published import locked_by
from integration.registries import USER, Running, registry_with_tokens
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


def solve(tiny: Tiny, address: str, cache: Path) -> list[rattler.RepoDataRecord]:
    file = tiny.locks / "tiny/by-conda/environment.yml"
    return asyncio.run(
        rattler.solve(
            sources=[rattler.Channel(address)],
            specs=[
                rattler.MatchSpec(spec, strict=False)
                for spec in yaml.safe_load(file.read_text())["dependencies"]
            ],
            platforms=["linux-64", "noarch"],
            gateway=rattler.Gateway(cache_dir=cache, client=Client([OciMiddleware()])),
            virtual_packages=rattler.VirtualPackage.detect(),
        )
    )


def install(records: list[rattler.RepoDataRecord], place: Path, cache: Path) -> None:
    client = Client([OciMiddleware()])
    asyncio.run(
        rattler.install(records, place, cache_dir=cache, show_progress=False, client=client)
    )


def test_rattler_solves_and_installs_from_a_registry(
    tiny: Tiny, running: tuple[Running, str], tmp_path: Path
) -> None:
    registry, address = running
    registry.scopes.clear()
    records = solve(tiny, address, tmp_path / "index")
    assert {(r.file_name, r.sha256.hex()) for r in records if r.sha256} == {
        (p.file_name, p.sha256) for p in locked_by(tiny, "by-conda").packages
    }
    install(records, tmp_path / "environment", tmp_path / "cache")
    assert (tmp_path / "environment/lib/python2.7/site-packages/six.py").is_file()
    assert ("repository:stacks/noarch/six:pull", False) in registry.scopes


def test_rattler_refuses_changed_bytes_of_a_registry(
    tiny: Tiny, running: tuple[Running, str], tmp_path: Path
) -> None:
    registry, address = running
    [six] = [p.sha256 for p in locked_by(tiny, "by-conda").packages if p.name == "six"]
    [blob] = registry.data.glob(f"**/blobs/sha256/*/{six}/data")
    flip(blob)
    records = solve(tiny, address, tmp_path / "index")
    with pytest.raises(InstallerError, match="six"):
        install(records, tmp_path / "environment", tmp_path / "cache")
    assert not (tmp_path / "environment/lib/python2.7/site-packages/six.py").exists()
