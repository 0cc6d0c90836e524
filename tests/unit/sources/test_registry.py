from __future__ import annotations

import base64
import hashlib
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, UsageError
from stacks.sources.download import download
from stacks.sources.registry import Registry, Tokens, is_registry, registry_at
from stacks.sources.web import Web, environment_web
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


def log_in(folder: Path, host: str, password: str = SECRET) -> str:
    user = base64.b64encode(f"me:{password}".encode()).decode()
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"auths": {host: {"auth": user}}}))
    return user


def registry_of(site: Site) -> Registry:
    return registry_at(f"oci+http://{site.url.removeprefix('http://')}/stacks", "--to")


def web_of(site: Site) -> Web:
    web = replace(environment_web(threading.Event()), timeout=5.0, retries=0)
    return replace(web, tokens=Tokens(registry_of(site)))


def wants_token(realm: str) -> Answer:
    challenge = f'Bearer realm="{realm}",service="reg",scope="repository:else:pull"'
    return Answer(401, headers={"WWW-Authenticate": challenge})


def fetch(site: Site, tmp_path: Path, web: Web | None = None) -> bytes:
    part = tmp_path / "part"
    url = registry_of(site).blob("noarch", "six", SHA256)
    download(web or web_of(site), url, part, len(BODY), lambda count: None)
    return part.read_bytes()


def test_a_package_is_one_get(site: Site, tmp_path: Path) -> None:
    site.files[BLOB] = BODY
    assert fetch(site, tmp_path) == BODY
    assert site.paths() == [BLOB]
    assert "authorization" not in site.asked[0].headers


def test_an_anonymous_token_is_fetched_once_for_a_repository(site: Site, tmp_path: Path) -> None:
    site.files |= {BLOB: BODY, TOKEN: b'{"token": "abc"}'}
    site.plans[BLOB] = [wants_token(f"{site.url}/token")]
    web = web_of(site)
    assert fetch(site, tmp_path, web) == BODY
    (tmp_path / "part").unlink()
    assert fetch(site, tmp_path, web) == BODY
    assert site.paths() == [BLOB, TOKEN, BLOB, BLOB]
    sent = [asked.headers.get("authorization") for asked in site.asked]
    assert sent == [None, None, "Bearer abc", "Bearer abc"]


def test_the_password_of_docker_login_is_sent_for_the_token_alone(
    site: Site, tmp_path: Path, docker_config: Path
) -> None:
    user = log_in(docker_config, site.url.removeprefix("http://"))
    site.files |= {BLOB: BODY, TOKEN: b'{"access_token": "abc"}'}
    site.plans[BLOB] = [wants_token(f"{site.url}/token")]
    assert fetch(site, tmp_path) == BODY
    sent = [asked.headers.get("authorization") for asked in site.asked]
    assert sent == [None, f"Basic {user}", "Bearer abc"]


def test_the_password_does_not_follow_a_redirect_to_another_host(
    site: Site, tmp_path: Path, docker_config: Path
) -> None:
    user = log_in(docker_config, site.url.removeprefix("http://"))
    with serving() as other:
        site.files[BLOB] = BODY
        other.files["/token"] = b'{"token": "abc"}'
        site.plans[BLOB] = [wants_token(f"{site.url}/token")]
        site.plans[TOKEN] = [Answer(307, headers={"Location": "/moved"})]
        site.plans["/moved"] = [Answer(307, headers={"Location": f"{other.url}/token"})]
        assert fetch(site, tmp_path) == BODY
    sent = [asked.headers.get("authorization") for asked in site.asked]
    assert sent == [None, f"Basic {user}", f"Basic {user}", "Bearer abc"]
    assert [asked.headers.get("authorization") for asked in other.asked] == [None]


def test_a_registry_may_ask_for_the_password_itself(
    site: Site, tmp_path: Path, docker_config: Path
) -> None:
    user = log_in(docker_config, site.url.removeprefix("http://"))
    site.files[BLOB] = BODY
    site.plans[BLOB] = [Answer(401, headers={"WWW-Authenticate": 'Basic realm="r"'})]
    assert fetch(site, tmp_path) == BODY
    assert site.asked[1].headers["authorization"] == f"Basic {user}"


def test_a_token_goes_before_netrc(site: Site, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login me password {SECRET}\n")
    site.files |= {BLOB: BODY, TOKEN: b'{"token": "abc"}'}
    site.plans[BLOB] = [wants_token(f"{site.url}/token")]
    assert fetch(site, tmp_path) == BODY
    assert site.asked[-1].headers["authorization"] == "Bearer abc"


def test_a_login_goes_before_netrc(site: Site, tmp_path: Path, docker_config: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password less\n")
    user = log_in(docker_config, site.url.removeprefix("http://"))
    site.files |= {BLOB: BODY, TOKEN: b'{"token": "abc"}'}
    site.plans[BLOB] = [wants_token(f"{site.url}/token")]
    assert fetch(site, tmp_path) == BODY
    assert site.asked[1].headers["authorization"] == f"Basic {user}"


def test_a_token_does_not_follow_a_redirect_to_another_server(site: Site, tmp_path: Path) -> None:
    site.files[TOKEN] = b'{"token": "abc"}'
    with serving() as store:
        store.files["/blob"] = BODY
        elsewhere = Answer(307, headers={"Location": f"{store.url}/blob"})
        site.plans[BLOB] = [wants_token(f"{site.url}/token"), elsewhere]
        assert fetch(site, tmp_path) == BODY
        assert "authorization" not in store.asked[0].headers


def test_a_download_is_resumed(site: Site, tmp_path: Path) -> None:
    site.files[BLOB] = BODY
    (tmp_path / "part").write_bytes(BODY[:1000])
    assert fetch(site, tmp_path) == BODY
    assert site.asked[0].headers["range"] == "bytes=1000-"


def test_a_refused_token_is_an_error_after_one_more_try(site: Site, tmp_path: Path) -> None:
    site.files[TOKEN] = b'{"token": "abc"}'
    site.plans[BLOB] = [wants_token(f"{site.url}/token")] * 9
    with pytest.raises(FetchError, match="answered 401"):
        fetch(site, tmp_path)
    assert site.paths() == [BLOB, TOKEN, BLOB]


@pytest.mark.parametrize(
    "reply", [b"", b"[]", b"{}", b'{"token": 1}', b'{"token": "a b"}', b'{"token": "a\\nX: y"}']
)
def test_a_server_that_gives_no_token_is_an_error(site: Site, tmp_path: Path, reply: bytes) -> None:
    site.files[TOKEN] = reply
    site.plans[BLOB] = [wants_token(f"{site.url}/token")]
    with pytest.raises(FetchError, match="/token: it gave no token"):
        fetch(site, tmp_path)


@pytest.mark.parametrize("challenge", ["Bearer", "Bearer x", 'Bearer realm="file:///etc/passwd"'])
def test_a_challenge_without_an_address_of_tokens_is_an_error(
    site: Site, tmp_path: Path, challenge: str
) -> None:
    site.plans[BLOB] = [Answer(401, headers={"WWW-Authenticate": challenge})]
    with pytest.raises(FetchError, match="it names no address of tokens"):
        fetch(site, tmp_path)


@pytest.mark.parametrize("challenge", ["", "Negotiate", 'Basic realm="r"'])
def test_without_a_password_a_refusal_is_an_error(
    site: Site, tmp_path: Path, challenge: str
) -> None:
    site.plans[BLOB] = [Answer(401, headers={"WWW-Authenticate": challenge})]
    with pytest.raises(FetchError, match="answered 401"):
        fetch(site, tmp_path)
    assert site.paths() == [BLOB]


@pytest.mark.parametrize("text", ["", "[]", '{"auths": {}}', '{"auths": {"h": {"auth": "%"}}}'])
def test_a_configuration_without_the_host_counts_as_none(
    site: Site, tmp_path: Path, docker_config: Path, text: str
) -> None:
    docker_config.mkdir()
    (docker_config / "config.json").write_text(text.replace('"h"', f'"{site.url[7:]}"'))
    site.files |= {BLOB: BODY, TOKEN: b'{"token": "abc"}'}
    site.plans[BLOB] = [wants_token(f"{site.url}/token")]
    assert fetch(site, tmp_path) == BODY
    assert "authorization" not in site.asked[1].headers


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
    assert registry_at("oci://h:443/n", "--to").root == "https://h"
    assert registry_at("oci+http://h:80/n", "--to").root == "http://h"
    assert registry_at("oci+http://h:443/n", "--to").root == "http://h:443"
    assert is_registry("oci://h/n") and is_registry("oci+http://h/n")
    assert not is_registry("https://h/n") and not is_registry("ocelot/folder")


@pytest.mark.parametrize(
    "address",
    ["oci://h", "oci://h/", "oci:/h/n", "oci://h/UPPER", "oci://u:p@h/n", "oci://h/a/../b"],
)
def test_an_address_that_cannot_be_one(address: str) -> None:
    with pytest.raises(UsageError, match="THE_PLACE has an address of a registry") as caught:
        registry_at(address, "THE_PLACE")
    assert "u:p" not in str(caught.value)
