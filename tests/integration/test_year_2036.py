"""Environments in the year 2036: what the sources came from is gone."""

from __future__ import annotations

import datetime
import http.server
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from integration.published import move_packages, write_packages
from integration.registries import registry, registry_with_tls
from integration.tiny import BUILDER, Builder, Tiny, tree
from integration.workspaces import workspace_below
from stacks.channel.build import obtain_packages
from stacks.channel.offers import read_channel, with_settings
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.distribution.channel import written_files
from stacks.distribution.registry import push
from stacks.locks import lock
from stacks.locks.publication import publication
from stacks.sources.channels import CHANNEL
from stacks.sources.registry import registry_at
from stacks.sources.vendored import VARIABLE as VENDOR
from stacks.variants.load import load_variant

pytestmark = pytest.mark.usefixtures("no_other_place")
DEAD = "http://127.0.0.1:9"
THEN = datetime.datetime(2036, 3, 1, tzinfo=datetime.timezone.utc)
DAY = datetime.timedelta(days=1)
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
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a certificate for localhost with its key, valid from 2035 to 2037 only."""
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(THEN - 365 * DAY)
        .not_valid_after(THEN + 365 * DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def https_serving(folder: Path, certificate: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    handler = partial(_Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"https://localhost:{server.server_port}"
        finally:
            server.shutdown()


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


def test_in_2036_from_a_vendored_folder(
    tiny: Tiny, in_2036: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder has the wheel for pip, too: neither it nor a package is anywhere else."""
    today = tree(tiny.make("by-pip"))
    carried = tmp_path / "carried"
    monkeypatch.setattr(vendor, "_download_tools", lambda folder: folder.mkdir())
    vendor.vendor(tiny.workspace, [tiny.variant("by-pip")], carried)
    for folder in (tiny.cache, tiny.place("by-pip")):
        shutil.rmtree(folder)
    monkeypatch.setenv(VENDOR, str(carried))
    output, errors = output_of(tiny.builder("by-pip", wrapper=in_2036))
    assert output.strip() == str(tiny.place("by-pip")), errors
    assert f"5 fetched from {carried / 'channel'}" in errors
    assert "warning" not in errors
    assert tree(tiny.place("by-pip")) == today


@contextmanager
def published_in_2036(
    kind: str, tiny: Tiny, published: Path, certificate: Path, room: Path
) -> Iterator[str]:
    """Serve a published channel with a certificate of 2036; give its address."""
    if kind == "static":
        with https_serving(published, certificate) as address:
            yield address
        return
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
    with registry_with_tls(room, certificate) as running:
        yield running.address("stacks")


@pytest.mark.parametrize("kind", ["static", "registry"])
def test_in_2036_from_a_published_channel(
    tiny: Tiny,
    published: Path,
    certificate: Path,
    in_2036: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    with published_in_2036(kind, tiny, published, certificate, tmp_path / "registry") as address:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
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
    certificate: Path,
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
        "DEBIAN_MIRROR": f"{DEAD}/debian",
        "PIP_INDEX_URL": f"{DEAD}/simple",
        "REQUESTS_CA_BUNDLE": str(certificate),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    place = tmp_path / "prefix"
    with https_serving(folder, certificate) as address:
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
    computed = subprocess.run(
        [*in_2036, place / "bin/python", "-c", COMPUTING],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert computed.stdout.split() == ["2036", "25.0"], computed.stderr
