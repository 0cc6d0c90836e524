"""Environments in the year 2036: what the sources came from is gone."""

from __future__ import annotations

import datetime
import os
import shutil
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from unit.helpers.web_server import Request, web_server

from integration.programs import called
from integration.published import move_packages, write_packages
from integration.registries import certificate, pem_of, registry, registry_with_tls
from integration.tiny import BUILDER, DEAD, Builder, Tiny, tree
from integration.workspaces import workspace_below
from stacks.channel.build import obtain_packages
from stacks.channel.offers import read_channel, with_settings
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.distribution.channel import push, written_files
from stacks.locks import lock
from stacks.locks.publication import publication
from stacks.sources.channels import CHANNEL
from stacks.sources.registry import registry_at
from stacks.variants.load import load_variant

pytestmark = pytest.mark.usefixtures("no_other_place")
THEN = datetime.datetime(2036, 3, 1, tzinfo=datetime.timezone.utc)
# Compiles C with the environment's own compiler, and calls its BLAS.
COMPUTING = """
import datetime, theano
x = theano.tensor.dmatrix()
print(datetime.date.today().year, float(theano.function([x], x.dot(x.T))([[3.0, 4.0]])[0, 0]))
"""


@pytest.fixture
def published(tiny: Tiny, tmp_path: Path) -> Path:
    """Give a channel with the packages of `tiny`, which the cache no longer has."""
    return move_packages(tiny, tmp_path / "published")


@pytest.fixture(scope="module")
def server_pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a certificate for localhost with its key, valid from 2035 to 2037 only."""
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    made = certificate(key, THEN, 365, is_ca=True)
    path.write_bytes(made.public_bytes(Encoding.PEM) + pem_of(key))
    return path


@contextmanager
def https_serving(folder: Path, server_pem: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server_pem)

    def reply(request: Request) -> None:
        file = folder / request.path.lstrip("/")
        found = file.is_file()
        request.send(200 if found else 404, {}, file.read_bytes() if found else b"")

    with web_server(reply, tls=context) as port:
        yield f"https://localhost:{port}"


@pytest.fixture
def in_2036(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the command that runs a program in the year 2036."""
    faketime = shutil.which("faketime")
    if not faketime:
        pytest.skip("faketime is not installed (Debian's package faketime)")
    # Only the calendar is moved: waiting is done by the other clock.
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    return [faketime, "-f", f"@{THEN:%Y-%m-%d %H:%M:%S}"]


def output_of(builder: Builder) -> tuple[str, str]:
    with builder:
        return builder.communicate(timeout=300)


@contextmanager
def registry_in_2036(tiny: Tiny, published: Path, server_pem: Path, room: Path) -> Iterator[str]:
    """Serve a published channel from a registry with a certificate of 2036; give its address."""
    variants = [tiny.variant(name) for name in ("by-conda", "by-pip")]
    found = publication(tiny.workspace, read_channel(tiny.workspace), variants)
    # The packages alone: their sources are not what an environment is made of.
    found = replace(found, sources=())
    with registry(room) as plain:
        push(
            registry_at(plain.address("stacks"), "the test"),
            found,
            {entry.path: published / entry.path for entry in found.entries},
            written_files(found, None),
        )
    with registry_with_tls(room, server_pem) as running:
        yield running.address("stacks")


def test_in_2036_from_a_registry(
    tiny: Tiny,
    published: Path,
    server_pem: Path,
    in_2036: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with registry_in_2036(tiny, published, server_pem, tmp_path / "registry") as address:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server_pem))
        monkeypatch.setenv(CHANNEL, address)
        output, errors = output_of(tiny.builder("by-conda", wrapper=in_2036))
        assert f"6 fetched from {address}" in errors, errors
        assert output.strip() == str(tiny.place("by-conda"))
        assert "warning" not in errors
        made_then = tree(tiny.place("by-conda"))
        shutil.rmtree(tiny.cache / "packages")
        shutil.rmtree(tiny.place("by-conda"))
        # Today the server's certificate is not yet valid: the clock was indeed another one.
        assert "not yet valid" in output_of(tiny.builder("by-conda"))[1]
    monkeypatch.setenv(CHANNEL, str(published))
    assert tree(tiny.make("by-conda")) == made_then


def test_in_2036_a_real_variant_comes_from_a_published_channel(
    workspace: Workspace,
    server_pem: Path,
    in_2036: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = workspace_below(tmp_path / "checkout", workspace.cache)
    variant = load_variant(own, "openblas")
    channel = read_channel(own)
    locked = lock.read(own, variant)
    # The user's cache has them, or they are built.
    monkeypatch.undo()
    obtain_packages(own, with_settings(channel, [variant]), locked.packages, quiet=True)
    folder = write_packages(own, [variant], tmp_path / "published")
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "THEANO_STACKS_CACHE": str(tmp_path / "cache"),
        **DEAD,
        "REQUESTS_CA_BUNDLE": str(server_pem),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    place = tmp_path / "prefix"
    with https_serving(folder, server_pem) as address:
        words = [BUILDER, own.root, tmp_path / "cache", place, "openblas", ""]
        output, errors = output_of(
            Builder(
                [*in_2036, sys.executable, *map(str, words)],
                env={**environment, CHANNEL: address},
                stdout=-1,
                stderr=-1,
                text=True,
            )
        )
    assert f"0 packages built, {len(locked.packages)} fetched from {address}" in errors
    assert output.strip() == str(place)
    computed = called(
        [*in_2036, place / "bin/python", "-c", COMPUTING],
        env={**environment, "HOME": str(tmp_path)},
    )
    assert computed.stdout.split() == ["2036", "25.0"], computed.stderr
