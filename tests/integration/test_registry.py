"""The channel in a real registry: pushed, pushed again, pulled by its locks, used by rattler."""

import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from rattler.exceptions import InstallerError
from rattler.networking import Client, OciMiddleware
from unit.helpers.publication import USER

from integration.published import install, solve
from integration.registries import Running, registry, registry_with_tokens
from integration.tiny import Tiny, flip, tree
from stacks.channel.candidates import read_channel
from stacks.core.errors import FetchError
from stacks.distribution.channel import publish_channel
from stacks.locks.solution import publication
from stacks.sources.places import CHANNEL
from stacks.variants.load import all_variants

pytestmark = pytest.mark.usefixtures("publishable", "no_other_place")


def log_in(tmp_path: Path, host: str) -> None:
    (tmp_path / "docker").mkdir()
    auths = {"auths": {host: {"auth": USER}}}
    (tmp_path / "docker/config.json").write_text(json.dumps(auths))


def digests(tiny: Tiny) -> dict[str, str]:
    """Return the SHA-256 of the packages and index files of the channel by path."""
    channel = read_channel(tiny.workspace)
    found = publication(tiny.workspace, channel, all_variants(tiny.workspace))
    return found.digests


def assert_pulled(
    tiny: Tiny, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Make an environment from the registry alone; compare it with the one of the cache."""
    made = tree(tiny.make("by-conda"))
    packages = {path.name: path.read_bytes() for path in tiny.cache.rglob("*.conda")}
    shutil.rmtree(tiny.cache / "packages")
    shutil.rmtree(tiny.place("by-conda"))
    monkeypatch.setenv(CHANNEL, address)
    capsys.readouterr()
    assert tree(tiny.make("by-conda")) == made
    assert f"6 fetched from {address}" in capsys.readouterr().err
    pulled = {path.name: path.read_bytes() for path in tiny.cache.rglob("*.conda")}
    assert pulled and pulled.items() <= packages.items()


def test_a_channel_is_pushed_once_goes_on_if_cut_short_and_is_pulled_by_its_locks(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with registry(tmp_path / "registry") as plain:
        address = plain.address("stacks")
        publish_channel(tiny.workspace, address)
        output = capsys.readouterr()
        assert "not signed" in output.out and " MB sent" in output.err
        whole = plain.blobs()
        assert set(digests(tiny).values()) <= whole
        publish_channel(tiny.workspace, address)
        assert "0.0 MB sent" in capsys.readouterr().err
        # As if the push had ended after some of the packages.
        for path in (plain.data / "docker/registry/v2/repositories/stacks/noarch").iterdir():
            shutil.rmtree(path)
        [python] = [digest for path, digest in digests(tiny).items() if "/python-" in path]
        shutil.rmtree(plain.data / f"docker/registry/v2/blobs/sha256/{python[:2]}/{python}")
        shutil.rmtree(plain.data / "docker/registry/v2/repositories/stacks/linux-64/python")
        publish_channel(tiny.workspace, address)
        assert plain.blobs() == whole
        assert_pulled(tiny, address, monkeypatch, capsys)


def test_with_tokens_anyone_pulls_and_who_is_logged_in_pushes(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with registry_with_tokens(tmp_path / "registry") as guarded:
        address = guarded.address("stacks")
        with pytest.raises(FetchError, match="no trusted connection"):
            publish_channel(tiny.workspace, address)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(guarded.certificate))
        with pytest.raises(FetchError, match=r"(?s)answered 401.*`docker login localhost:"):
            publish_channel(tiny.workspace, address)
        assert guarded.blobs() == set()
        log_in(tmp_path, guarded.host)
        publish_channel(tiny.workspace, address)
        assert set(digests(tiny).values()) <= guarded.blobs()
        shutil.rmtree(tmp_path / "docker")
        guarded.scopes.clear()
        assert_pulled(tiny, address, monkeypatch, capsys)
        names = ("pip", "setuptools", "six", "tiny-settings", "wheel")
        places = ["linux-64/python", *(f"noarch/{name}" for name in names)]
        scopes = [(f"repository:stacks/{place}:pull", False) for place in places]
        assert sorted(guarded.scopes) == scopes


# rattler asks only by TLS on this port.
PORT = 443


@pytest.fixture
def served(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """Give a registry with the channel of `tiny` at rattler's port."""
    with closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", PORT))
        except OSError as error:
            pytest.skip(f"no program may listen on port {PORT} here: {error.strerror}")
    with registry_with_tokens(tmp_path / "registry", PORT) as running:
        for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
            monkeypatch.setenv(name, str(running.certificate))
        log_in(tmp_path, "localhost")
        publish_channel(tiny.workspace, running.address("stacks"))
        yield running


def test_rattler_solves_installs_and_refuses_changed_bytes(
    tiny: Tiny, served: Running, tmp_path: Path
) -> None:
    client, environment = Client([OciMiddleware()]), tiny.locks / "tiny/by-conda/environment.yml"
    served.scopes.clear()
    records = solve("oci://localhost/stacks", environment, tmp_path / "index", client)
    locked = {p.filename: p.sha256 for p in tiny.lock("by-conda").packages}
    assert {r.file_name: r.sha256.hex() for r in records if r.sha256} == locked
    install(records, tmp_path / "environment", tmp_path / "cache", client)
    six = "lib/python2.7/site-packages/six.py"
    assert (tmp_path / "environment" / six).is_file()
    assert ("repository:stacks/noarch/six:pull", False) in served.scopes
    [digest] = [sha256 for name, sha256 in locked.items() if name.startswith("six-")]
    [blob] = served.data.glob(f"**/blobs/sha256/*/{digest}/data")
    flip(blob)
    with pytest.raises(InstallerError, match="six"):
        install(records, tmp_path / "other", tmp_path / "empty", client)
    assert not (tmp_path / "other" / six).exists()
