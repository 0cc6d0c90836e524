"""The channel in a real registry: pushed, pushed again, pulled by its locks, used by rattler."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from rattler.exceptions import InstallerError
from rattler.networking import Client, OciMiddleware

from integration.published import locked_by
from integration.registries import USER, Running, registry, registry_with_tokens
from integration.test_serve import install, solve
from integration.tiny import Tiny, flip, tree
from stacks.channel.offers import read_channel
from stacks.core.errors import FetchError
from stacks.distribution.channel import publish_channel
from stacks.locks.publication import publication
from stacks.sources.channels import CHANNEL
from stacks.variants.load import all_variants

pytestmark = pytest.mark.usefixtures("publishable", "no_other_place")


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Running]:
    with registry(tmp_path / "registry") as running:
        yield running


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    with registry_with_tokens(tmp_path / "registry") as running:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(running.ca))
        yield running


def log_in(tmp_path: Path, host: str) -> None:
    (tmp_path / "docker").mkdir()
    auths = {"auths": {host: {"auth": USER}}}
    (tmp_path / "docker/config.json").write_text(json.dumps(auths))


def digests(tiny: Tiny) -> dict[str, str]:
    """Return the SHA-256 of the packages and index files of the channel by path."""
    channel = read_channel(tiny.workspace)
    found = publication(tiny.workspace, channel, all_variants(tiny.workspace))
    return {line[66:]: line[:64] for line in found.digests.splitlines()}


def assert_pulled(tiny: Tiny, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an environment from the registry alone; compare it with the one of the cache."""
    made = tree(tiny.make("by-conda"))
    packages = {path.name: path.read_bytes() for path in tiny.cache.rglob("*.conda")}
    shutil.rmtree(tiny.cache / "packages")
    shutil.rmtree(tiny.place("by-conda"))
    monkeypatch.setenv(CHANNEL, address)
    assert tree(tiny.make("by-conda")) == made
    pulled = {path.name: path.read_bytes() for path in tiny.cache.rglob("*.conda")}
    assert pulled and pulled.items() <= packages.items()


def test_a_channel_is_pushed_once_and_pulled_by_its_locks(
    tiny: Tiny, plain: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = plain.address("me/stacks")
    publish_channel(tiny.workspace, address)
    output = capsys.readouterr()
    assert "not signed" in output.out and " MB sent" in output.err
    assert set(digests(tiny).values()) <= plain.blobs()
    before = plain.blobs()
    publish_channel(tiny.workspace, address)
    assert "0.0 MB sent" in capsys.readouterr().err
    assert plain.blobs() == before
    assert_pulled(tiny, address, monkeypatch)
    assert f"6 fetched from {address}" in capsys.readouterr().err


def test_a_push_that_was_cut_short_goes_on(tiny: Tiny, plain: Running) -> None:
    address = plain.address("stacks")
    publish_channel(tiny.workspace, address)
    whole = plain.blobs()
    # As if the push had ended after some of the packages.
    for path in (plain.data / "docker/registry/v2/repositories/stacks/noarch").iterdir():
        shutil.rmtree(path)
    [python] = [digest for path, digest in digests(tiny).items() if "/python-" in path]
    shutil.rmtree(plain.data / f"docker/registry/v2/blobs/sha256/{python[:2]}/{python}")
    shutil.rmtree(plain.data / "docker/registry/v2/repositories/stacks/linux-64/python")
    publish_channel(tiny.workspace, address)
    assert plain.blobs() == whole


def test_with_tokens_anyone_pulls_and_who_is_logged_in_pushes(
    tiny: Tiny,
    guarded: Running,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address = guarded.address("stacks")
    with pytest.raises(FetchError, match="the registry answered 401 to POST") as caught:
        publish_channel(tiny.workspace, address)
    assert caught.value.fix == (
        f"`docker login {guarded.host}` stores a user and password that may push"
    )
    assert guarded.blobs() == set()
    log_in(tmp_path, guarded.host)
    publish_channel(tiny.workspace, address)
    assert set(digests(tiny).values()) <= guarded.blobs()
    shutil.rmtree(tmp_path / "docker")
    guarded.scopes.clear()
    capsys.readouterr()
    assert_pulled(tiny, address, monkeypatch)
    assert f"6 fetched from {address}" in capsys.readouterr().err
    assert sorted(guarded.scopes) == sorted(
        (f"repository:stacks/{subdir}/{name}:pull", False)
        for subdir, name in (
            ("linux-64", "python"),
            ("noarch", "pip"),
            ("noarch", "setuptools"),
            ("noarch", "six"),
            ("noarch", "tiny-settings"),
            ("noarch", "wheel"),
        )
    )


def test_a_registry_with_an_unknown_certificate_is_not_used(
    tiny: Tiny, guarded: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with pytest.raises(FetchError, match="no trusted connection") as caught:
        publish_channel(tiny.workspace, guarded.address("stacks"))
    assert caught.value.fix and "SSL_CERT_FILE" in caught.value.fix


def test_a_registry_that_lacks_a_package_is_one_place_of_many(
    tiny: Tiny,
    plain: Running,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    publish_channel(tiny.workspace, plain.address("stacks"))
    publish_channel(tiny.workspace, str(tmp_path / "folder"))
    shutil.rmtree(plain.data / "docker/registry/v2/repositories/stacks/noarch/six")
    capsys.readouterr()
    places = f"{plain.address('stacks')} {tmp_path / 'folder'}"
    assert_pulled(tiny, places, monkeypatch)
    errors = capsys.readouterr().err
    assert f"5 fetched from {plain.address('stacks')}" in errors
    assert f"1 fetched from {tmp_path / 'folder'}" in errors
    assert "warning" not in errors


# rattler asks only by TLS on this port.
PORT = 443


@pytest.fixture
def served(
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
        log_in(tmp_path, "localhost")
        publish_channel(tiny.workspace, running.address("stacks"))
        yield running, "oci://localhost/stacks"


def test_rattler_solves_and_installs_from_a_registry(
    tiny: Tiny, served: tuple[Running, str], tmp_path: Path
) -> None:
    (registry, address), client = served, Client([OciMiddleware()])
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
    tiny: Tiny, served: tuple[Running, str], tmp_path: Path
) -> None:
    (registry, address), client = served, Client([OciMiddleware()])
    environment = tiny.locks / "tiny/by-conda/environment.yml"
    [six] = [p.sha256 for p in locked_by(tiny, "by-conda").packages if p.name == "six"]
    [blob] = registry.data.glob(f"**/blobs/sha256/*/{six}/data")
    flip(blob)
    records = solve(address, environment, tmp_path / "index", client)
    with pytest.raises(InstallerError, match="six"):
        install(records, tmp_path / "environment", tmp_path / "cache", client)
    assert not (tmp_path / "environment/lib/python2.7/site-packages/six.py").exists()
