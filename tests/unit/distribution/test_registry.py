"""A channel in a registry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.distribution import channel
from stacks.sources.registry import registry_at
from unit.helpers.publication import SOURCE, body, entry, publication, write_packages
from unit.helpers.registry import Registry, running


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with running() as server:
        yield server


def test_a_publication_is_pushed_as_py_rattler_reads_it(server: Registry, tmp_path: Path) -> None:
    made = publication()
    paths = write_packages(made, tmp_path / "files")
    written = channel.written_files(made, b"signature")
    channel.push(registry_at(f"oci+http://{server.host}/me/stacks", "--to"), made, paths, written)
    names = [
        asked.removeprefix("PUT /v2/me/stacks/").replace("/manifests/", ":")
        for asked in server.asked
        if asked.startswith("PUT") and "/manifests/" in asked
    ]
    blas, six = made.entries
    assert names == [
        f"linux-64/libopenblas:{channel.tag_of(blas)}",
        f"noarch/six:{channel.tag_of(six)}",
        "sources:latest",
        "linux-64/repodata.json:latest",
        "noarch/repodata.json:latest",
        "index:latest",
    ], "the index comes after what it names"
    assert {body("libopenblas"), body("six"), SOURCE, *written.values()} <= {*server.blobs.values()}
    manifest = json.loads(server.manifests[channel.tag_of(six)])
    package, index = manifest["layers"]
    assert package["digest"] == f"sha256:{six.digests.sha256}"
    assert package["mediaType"] == "application/vnd.conda.package.v2"
    assert json.loads(server.blobs[index["digest"]])["name"] == "six"
    assert manifest["annotations"]["org.conda.package.version"] == "1.16.0"
    last = json.loads(server.manifests["latest"])["layers"]
    assert [layer["annotations"]["org.opencontainers.image.title"] for layer in last] == [
        "index.sha256",
        "index.sha256.sig",
    ]
    digest = hashlib.sha256(made.digests.encode()).hexdigest()
    assert last[0]["digest"] == f"sha256:{digest}"


def test_a_tag_has_only_what_tags_may_have() -> None:
    tag = channel.tag_of(entry("six"))
    assert tag.startswith("1.16.0-") and not set(tag) & set("+!=")
