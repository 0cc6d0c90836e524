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


def test_a_manifest_and_its_blobs_are_written(registry: Registry, layers: list[Blob]) -> None:
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


def test_what_is_there_is_not_sent_again(registry: Registry, layers: list[Blob]) -> None:
    put(registry, layers)
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


def test_who_may_not_push_is_told_how(registry: Registry, layers: list[Blob]) -> None:
    registry.tokens = True
    with pytest.raises(FetchError, match="the registry answered 401 to HEAD") as caught:
        put(registry, layers)
    assert caught.value.fix == (
        f"`docker login {registry.host}` stores a user and password that may push"
    )
    assert registry.blobs == {} and registry.manifests == {}


@pytest.mark.parametrize("status", [400, 500, 200])
def test_an_answer_that_is_no_success_is_an_error(
    registry: Registry, layers: list[Blob], status: int
) -> None:
    registry.instead[f"PUT /v2/{REPOSITORY}/manifests/1.0-0"] = (status, {})
    with pytest.raises(FetchError, match=f"answered {status} to PUT") as caught:
        put(registry, layers)
    assert caught.value.found == r"'why\x1b[2J'", "nothing for a terminal to obey"
    assert caught.value.fix == "try again; what was sent is kept"
    del registry.instead[f"PUT /v2/{REPOSITORY}/manifests/1.0-0"]
    assert put(registry, layers) == 0


def test_a_server_of_tokens_that_fails_is_an_error(registry: Registry, layers: list[Blob]) -> None:
    registry.tokens = True
    registry.instead["GET /token"] = (403, {})
    with pytest.raises(FetchError, match="the server of tokens answered 403"):
        put(registry, layers)


def test_an_upload_does_not_go_to_another_kind_of_address(
    registry: Registry, layers: list[Blob]
) -> None:
    place = {"Location": "file:///etc/passwd"}
    registry.instead[f"POST /v2/{REPOSITORY}/blobs/uploads/"] = (202, place)
    with pytest.raises(FetchError, match="another kind of address for an upload"):
        put(registry, layers)


def test_a_registry_that_is_away_is_an_error(registry: Registry, layers: list[Blob]) -> None:
    writer = RegistryWriter(registry_at("oci+http://127.0.0.1:9/me/stacks", "--to"), True)
    with pytest.raises(FetchError, match="cannot be reached"):
        put(registry, layers, writer)
