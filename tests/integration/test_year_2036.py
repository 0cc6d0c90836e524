"""Environments in the year 2036: what the sources came from is gone."""

from __future__ import annotations

import datetime
import os
import shutil
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from unit.helpers.web_server import Request, web_server

from integration.programs import called
from integration.published import move_packages, write_packages
from integration.registries import registry, write_certificate
from integration.tiny import DEAD, Tiny, tree, workspace_below
from stacks.channel.build import obtain_packages
from stacks.channel.offers import read_channel, with_settings
from stacks.core.workspace import Workspace
from stacks.distribution.channel import push
from stacks.locks import lock
from stacks.locks.solution import DIGESTS, publication
from stacks.sources.places import CHANNEL
from stacks.sources.registry import registry_at
from stacks.variants.load import load_variant

THEN = datetime.datetime(2036, 3, 1, tzinfo=datetime.timezone.utc)
# Compiles C with the environment's own compiler, and calls its BLAS.
COMPUTING = """
import datetime, theano
x = theano.tensor.dmatrix()
print(datetime.date.today().year, float(theano.function([x], x.dot(x.T))([[3.0, 4.0]])[0, 0]))
"""


@pytest.fixture(scope="module")
def server_pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a certificate for localhost with its key, valid from 2035 to 2037 only."""
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    write_certificate(path, THEN, 365)
    return path


@pytest.fixture
def in_2036(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the command that runs a program in the year 2036."""
    faketime = shutil.which("faketime")
    if not faketime:
        pytest.skip("faketime is not installed (Debian's package faketime)")
    # Only the calendar is moved: waiting is done by the other clock.
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    return [faketime, "-f", f"@{THEN:%Y-%m-%d %H:%M:%S}"]


@pytest.mark.usefixtures("no_other_place")
def test_in_2036_from_a_registry(
    tiny: Tiny,
    server_pem: Path,
    in_2036: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    published, room = move_packages(tiny, tmp_path / "published"), tmp_path / "registry"
    variants = [tiny.variant(name) for name in ("by-conda", "by-pip")]
    found = publication(tiny.workspace, read_channel(tiny.workspace), variants)
    # The packages alone: their sources are not what an environment is made of.
    found = replace(found, sources=())
    files = {entry.path: published / entry.path for entry in found.entries}
    with registry(room) as plain:
        place = registry_at(plain.address("stacks"), "the test")
        push(place, found, files, {DIGESTS: found.digests.encode()})
    with registry(room, server_pem) as running:
        address = running.address("stacks")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server_pem))
        monkeypatch.setenv(CHANNEL, address)
        output, errors = tiny.builder("by-conda", wrapper=in_2036).communicate(timeout=300)
        assert f"6 fetched from {address}" in errors, errors
        assert output.strip() == str(tiny.place("by-conda"))
        assert "warning" not in errors
        made_then = tree(tiny.place("by-conda"))
        shutil.rmtree(tiny.cache / "packages")
        shutil.rmtree(tiny.place("by-conda"))
        # Today the server's certificate is not yet valid: the clock was indeed another one.
        assert "not yet valid" in tiny.builder("by-conda").communicate(timeout=300)[1]
    monkeypatch.setenv(CHANNEL, str(published))
    assert tree(tiny.make("by-conda")) == made_then


def test_in_2036_a_real_variant_comes_from_a_published_channel(
    workspace: Workspace, server_pem: Path, in_2036: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    own = workspace_below(tmp_path / "checkout", workspace.cache)
    variant = load_variant(own, "openblas")
    channel, locked = read_channel(own), lock.read(own, variant)
    # The user's cache has them, or they are built.
    obtain_packages(own, with_settings(channel, [variant]), locked.packages, quiet=True)
    folder = write_packages(own, [variant], tmp_path / "published")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server_pem)

    def reply(request: Request) -> None:
        file = folder / request.path.lstrip("/")
        found = file.is_file()
        request.send(200 if found else 404, {}, file.read_bytes() if found else b"")

    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server_pem))
    empty = Tiny(own.root)
    with web_server(reply, tls=context) as port:
        address = f"https://localhost:{port}"
        monkeypatch.setenv(CHANNEL, address)
        output, errors = empty.builder("openblas", wrapper=in_2036).communicate(timeout=600)
    assert f"0 packages built, {len(locked.packages)} fetched from {address}" in errors
    place = empty.place("openblas")
    assert output.strip() == str(place)
    env = {**os.environ, **DEAD, "HOME": str(tmp_path)}
    computed = called([*in_2036, place / "bin/python", "-c", COMPUTING], env=env)
    assert computed.stdout.split() == ["2036", "25.0"], computed.stderr
