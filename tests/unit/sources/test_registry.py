"""Packages from a registry and to it: its addresses, and who gets which password or token.

The layout of what is pushed is in the tests of `distribution`.
"""

import base64
import hashlib
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, UsageError
from stacks.sources.download import download
from stacks.sources.registry import Blob, Registry, Tokens, is_registry, registry_at
from stacks.sources.web import Web, environment_web
from unit.helpers.publication import REPOSITORY, running
from unit.helpers.serving import BODY, SECRET, Answer, Site, serving

pytestmark = pytest.mark.usefixtures("room")
SHA256 = hashlib.sha256(BODY).hexdigest()
BLOB = f"/v2/stacks/noarch/six/blobs/sha256:{SHA256}"
TOKEN = "/token?scope=repository%3Astacks%2Fnoarch%2Fsix%3Apull&service=reg"


@pytest.fixture(autouse=True)
def docker_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of docker's configuration, which is not there yet."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    return tmp_path / "docker"


def log_in(folder: Path, host: str) -> str:
    user = base64.b64encode(f"me:{SECRET}".encode()).decode()
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"auths": {host: {"auth": user}}}))
    return user


def registry_of(site: Site) -> Registry:
    return registry_at(f"oci+http://{site.url.removeprefix('http://')}/stacks", "--to")


def web_of(site: Site) -> Web:
    web = replace(environment_web(threading.Event()), timeout=5.0, retries=0)
    return replace(web, tokens=Tokens(registry_of(site)))


@pytest.fixture
def guarded(site: Site) -> Site:
    """Give a registry that has the package and wants a token for it, once."""
    site.files |= {BLOB: BODY, TOKEN: b'{"token": "abc"}'}
    site.plans[BLOB] = [challenged(f'Bearer realm="{site.url}/token",service="reg",scope="x"')]
    return site


def challenged(text: str) -> Answer:
    return Answer(401, headers={"WWW-Authenticate": text})


def sent(site: Site) -> list[str | None]:
    return [asked.headers.get("authorization") for asked in site.asked]


def fetch(site: Site, tmp_path: Path, web: Web | None = None) -> bytes:
    part = tmp_path / "part"
    url = registry_of(site).blob("noarch", "six", SHA256)
    download(web or web_of(site), url, part, len(BODY), lambda count: None)
    return part.read_bytes()


def test_an_anonymous_token_is_fetched_once_for_a_repository(guarded: Site, tmp_path: Path) -> None:
    web = web_of(guarded)
    assert fetch(guarded, tmp_path, web) == BODY
    (tmp_path / "part").unlink()
    assert fetch(guarded, tmp_path, web) == BODY
    assert guarded.paths() == [BLOB, TOKEN, BLOB, BLOB]
    assert sent(guarded) == [None, None, "Bearer abc", "Bearer abc"]


@pytest.mark.parametrize("netrc", ["", "machine 127.0.0.1 login other password less\n"])
@pytest.mark.parametrize("logged_in", [True, False])
def test_a_login_is_sent_for_the_token_alone_and_both_go_before_netrc(
    guarded: Site, tmp_path: Path, docker_config: Path, netrc: str, logged_in: bool
) -> None:
    (tmp_path / "netrc").write_text(netrc)
    user = log_in(docker_config, guarded.url.removeprefix("http://")) if logged_in else ""
    guarded.files[TOKEN] = b'{"access_token": "abc"}'
    assert fetch(guarded, tmp_path) == BODY
    first, second, third = sent(guarded)
    assert (first is None) == (not netrc) and third == "Bearer abc"
    if logged_in:
        assert second == f"Basic {user}"


def test_neither_password_nor_token_follows_a_redirect_to_another_host(
    guarded: Site, tmp_path: Path, docker_config: Path
) -> None:
    user = log_in(docker_config, guarded.url.removeprefix("http://"))
    with serving() as other:
        other.files |= {"/token": b'{"token": "abc"}', BLOB: BODY}
        guarded.plans[TOKEN] = [Answer(307, headers={"Location": "/moved"})]
        guarded.plans["/moved"] = [Answer(307, headers={"Location": f"{other.url}/token"})]
        guarded.plans[BLOB].append(Answer(307, headers={"Location": f"{other.url}{BLOB}"}))
        assert fetch(guarded, tmp_path) == BODY
    assert sent(guarded) == [None, f"Basic {user}", f"Basic {user}", "Bearer abc"]
    assert sent(other) == [None, None]


def test_a_registry_may_ask_for_the_password_itself(
    guarded: Site, tmp_path: Path, docker_config: Path
) -> None:
    user = log_in(docker_config, guarded.url.removeprefix("http://"))
    guarded.plans[BLOB] = [challenged('Basic realm="r"')]
    assert fetch(guarded, tmp_path) == BODY
    assert sent(guarded) == [None, f"Basic {user}"]


def test_a_refused_token_is_an_error_after_one_more_try_and_so_is_none(
    guarded: Site, tmp_path: Path
) -> None:
    guarded.plans[BLOB] *= 9
    with pytest.raises(FetchError, match=r"(?s)answered 401.*docker login 127\.0\.0\.1"):
        fetch(guarded, tmp_path)
    assert guarded.paths() == [BLOB, TOKEN, BLOB]
    for token in ("", "[]", "{}", '{"token": 1}', '{"token": "a b"}', '{"token": "a\\nX: y"}'):
        guarded.files[TOKEN] = token.encode()
        with pytest.raises(FetchError, match="/token: it gave no token"):
            fetch(guarded, tmp_path)


NO_ADDRESS = "it names no address of tokens"


@pytest.mark.parametrize(
    ("challenge", "message"),
    [
        ("Bearer", NO_ADDRESS),
        ("Bearer x", NO_ADDRESS),
        ('Bearer realm="file:///etc/passwd"', NO_ADDRESS),
        *((challenge, "answered 401") for challenge in ("", "Negotiate", 'Basic realm="r"')),
    ],
)
def test_a_challenge_that_cannot_be_met_is_an_error(
    guarded: Site, tmp_path: Path, challenge: str, message: str
) -> None:
    guarded.plans[BLOB] = [challenged(challenge)]
    with pytest.raises(FetchError, match=message):
        fetch(guarded, tmp_path)
    assert guarded.paths() == [BLOB]


@pytest.mark.parametrize("text", ["", "[]", '{"auths": {}}', '{"auths": {"h": {"auth": "%"}}}'])
def test_a_configuration_without_the_host_counts_as_none(
    guarded: Site, tmp_path: Path, docker_config: Path, text: str
) -> None:
    docker_config.mkdir()
    (docker_config / "config.json").write_text(text.replace('"h"', f'"{guarded.url[7:]}"'))
    assert fetch(guarded, tmp_path) == BODY
    assert sent(guarded) == [None, None, "Bearer abc"]


def test_a_password_goes_over_tls_if_the_registry_has_it(docker_config: Path) -> None:
    log_in(docker_config, "registry.invalid")
    tokens = Tokens(registry_at("oci://registry.invalid/stacks", "--to"))
    asked = []

    def get(url: str, headers: dict[str, str]) -> bytes:
        asked.append((url, headers))
        return b'{"token": "abc"}'

    url = "https://registry.invalid/v2/stacks/noarch/six/blobs/sha256:0"
    assert tokens.answer(url, 'Bearer realm="http://tokens.invalid/"', get)
    assert [headers for _, headers in asked] == [{}]
    assert not tokens.answer("https://other.invalid/v2/a", 'Bearer realm="https://x/"', get)
    assert len(asked) == 1, "another server does not get a token"


def test_the_address_of_a_package() -> None:
    registry = registry_at("oci://Registry.invalid:5000/me/stacks/", "--to")
    assert registry.blob("linux-64", "_libgcc", "ab12") == (
        "https://registry.invalid:5000/v2/me/stacks/linux-64/zzz_libgcc/blobs/sha256:ab12"
    )
    for address, root in (
        ("oci://h:443/n", "https://h"),
        ("oci+http://h:80/n", "http://h"),
        ("oci+http://h:443/n", "http://h:443"),
    ):
        assert is_registry(address) and registry_at(address, "--to").root == root
    assert not is_registry("https://h/n") and not is_registry("ocelot/folder")


@pytest.mark.parametrize(
    "address",
    ["oci://h", "oci://h/", "oci:/h/n", "oci://h/UPPER", "oci://u:p@h/n", "oci://h/a/../b"],
)
def test_an_address_that_cannot_be_one(address: str) -> None:
    with pytest.raises(UsageError, match="THE_PLACE has an address of a registry") as caught:
        registry_at(address, "THE_PLACE")
    assert "u:p" not in str(caught.value)


PACKAGE = bytes(range(256)) * 5000
POST = f"POST /v2/{REPOSITORY}/blobs/uploads/"
PUT = f"PUT /v2/{REPOSITORY}/manifests/1.0-0"


@pytest.mark.parametrize(
    ("asked", "answer", "message"),
    [
        ("GET /token", (403, {}), r"(?s)/token\S*: the server answered 403.*docker login"),
        (PUT, (400, {}), r"1\.0-0: the server answered 400(?s:.*)found: +'why\\x1b\[2J'"),
        (PUT, (500, {}), r"1\.0-0: the server answered 500"),
        (PUT, (200, {}), "the registry answered 200 to PUT"),
        (POST, (202, {"Location": "file:///x"}), "another kind of address for an upload"),
    ],
)
def test_an_answer_that_is_no_success_is_an_error(
    tmp_path: Path, asked: str, answer: tuple[int, dict[str, str]], message: str
) -> None:
    (tmp_path / "six.conda").write_bytes(PACKAGE)
    layers = [Blob("a/package", tmp_path / "six.conda", "six.conda"), Blob("an/index", b"{...}")]
    with running() as server:
        server.tokens = asked == "GET /token"
        server.instead[asked] = answer
        with pytest.raises(FetchError, match=message):
            server.writer.put_manifest(REPOSITORY, "1.0-0", layers, {"k": "v"})
    assert server.manifests == {}
