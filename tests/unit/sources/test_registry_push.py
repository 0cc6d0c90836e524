from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.core.errors import FetchError
from stacks.sources.registry import registry_at
from stacks.sources.registry_push import EMPTY, Blob, RegistryWriter
from unit.helpers.registry import REPOSITORY, USER, Registry, running

pytestmark = pytest.mark.usefixtures("pauses")
PACKAGE = bytes(range(256)) * 5000


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with running() as registry:
        yield registry


@pytest.fixture
def layers(tmp_path: Path) -> list[Blob]:
    (tmp_path / "six.conda").write_bytes(PACKAGE)
    return [Blob("a/package", tmp_path / "six.conda", "six.conda"), Blob("an/index", b"{...}")]


def put(registry: Registry, layers: list[Blob], writer: RegistryWriter | None = None) -> int:
    return (writer or registry.writer).put_manifest(REPOSITORY, "1.0-0", layers, {"k": "v"})


def test_a_manifest_and_its_blobs_are_written_once(registry: Registry, layers: list[Blob]) -> None:
    assert put(registry, layers) == len(PACKAGE) + len(b"{...}") + len(EMPTY)
    assert sorted(registry.blobs.values()) == sorted([PACKAGE, b"{...}", EMPTY])
    manifest = json.loads(registry.manifests["1.0-0"])
    assert manifest["annotations"] == {"k": "v"}
    assert manifest["layers"] == [
        {
            "mediaType": "a/package",
            "digest": f"sha256:{hashlib.sha256(PACKAGE).hexdigest()}",
            "size": len(PACKAGE),
            "annotations": {"org.opencontainers.image.title": "six.conda"},
        },
        {
            "mediaType": "an/index",
            "digest": f"sha256:{hashlib.sha256(b'{...}').hexdigest()}",
            "size": 5,
        },
    ]
    assert registry.asked[-1] == f"PUT /v2/{REPOSITORY}/manifests/1.0-0", "the blobs come first"
    first = dict(registry.manifests)
    registry.asked.clear()
    assert put(registry, layers) == 0
    assert [asked.split()[0] for asked in registry.asked] == ["HEAD", "HEAD", "HEAD", "PUT"]
    assert registry.manifests == first


def test_one_token_serves_a_repository(
    registry: Registry, layers: list[Blob], tmp_path: Path
) -> None:
    registry.tokens = True
    (tmp_path / "docker").mkdir()
    auths = {"auths": {registry.host: {"auth": USER}}}
    (tmp_path / "docker/config.json").write_text(json.dumps(auths))
    put(registry, layers)
    assert registry.asked.count("GET /token") == 1
    assert PACKAGE in registry.blobs.values()


PUT, POST = f"PUT /v2/{REPOSITORY}/manifests/1.0-0", f"POST /v2/{REPOSITORY}/blobs/uploads/"


@pytest.mark.parametrize(
    ("instead", "message"),
    [
        ({}, r"(?s)blobs/sha256:[0-9a-f]+: the server answered 401.*`docker login 127\.0\.0\.1:"),
        ({"GET /token": (403, {})}, r"(?s)/token\S*: the server answered 403.*docker login"),
    ],
)
def test_who_may_not_push_is_told_how(
    registry: Registry,
    layers: list[Blob],
    instead: dict[str, tuple[int, dict[str, str]]],
    message: str,
) -> None:
    registry.tokens = True
    registry.instead |= instead
    with pytest.raises(FetchError, match=message):
        put(registry, layers)
    assert registry.blobs == {} and registry.manifests == {}


@pytest.mark.parametrize(
    ("asked", "answer", "message"),
    [
        (PUT, (400, {}), r"1\.0-0: the server answered 400(?s:.*)found: +'why\\x1b\[2J'"),
        (PUT, (500, {}), r"1\.0-0: the server answered 500"),
        (PUT, (200, {}), "the registry answered 200 to PUT"),
        (POST, (202, {"Location": "file:///x"}), "another kind of address for an upload"),
    ],
)
def test_an_answer_that_is_no_success_is_an_error(
    registry: Registry,
    layers: list[Blob],
    asked: str,
    answer: tuple[int, dict[str, str]],
    message: str,
) -> None:
    registry.instead[asked] = answer
    with pytest.raises(FetchError, match=message):
        put(registry, layers)
    del registry.instead[asked]
    put(registry, layers)
    assert "1.0-0" in registry.manifests


def test_a_registry_that_is_away_is_an_error(registry: Registry, layers: list[Blob]) -> None:
    writer = RegistryWriter(registry_at("oci+http://127.0.0.1:9/me/stacks", "--to"))
    with pytest.raises(FetchError, match="cannot be reached"):
        put(registry, layers, writer)
