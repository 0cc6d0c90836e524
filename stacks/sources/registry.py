"""Registries of the OCI distribution specification, as places of conda packages.

The digest of a package's blob is its SHA-256, which the lock has: a download is one GET, without a
tag or a manifest. A registry that wants a token says where it is to be had (Docker's token
authentication); anonymous ones are enough for public packages.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import parse_http_list, parse_keqv_list

import requests

from stacks.core.errors import FetchError, UsageError
from stacks.sources.mirrors import public_url

# The specification's form of a repository's name, and a host with an optional port.
_NAME = r"[a-z0-9]+(?:[._-][a-z0-9]+)*(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*"
_HOST = r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?|\[[0-9a-f:]+\](?::[0-9]{1,5})?"
# Bytes: a token, or what a registry says of itself.
LARGEST_REPLY = 1 << 20
_ADDRESS = re.compile(rf"oci(?P<plain>\+http)?://(?P<host>{_HOST})/(?P<name>{_NAME})/?")


@dataclass(frozen=True)
class Registry:
    """A channel in a registry: `root` is the URL of its API, `name` the channel's."""

    root: str
    name: str

    @property
    def host(self) -> str:
        """The host and port."""
        return urlsplit(self.root).netloc

    def repository(self, subdir: str, package: str) -> str:
        """Return the name of a package's repository, as py-rattler has it."""
        # A repository's name cannot begin with it.
        return f"{self.name}/{subdir}/{'zzz' if package.startswith('_') else ''}{package}"

    def blob(self, subdir: str, package: str, sha256: str) -> str:
        """Return the URL of a package's bytes."""
        return f"{self.root}/v2/{self.repository(subdir, package)}/blobs/sha256:{sha256}"


def is_registry(address: str) -> bool:
    """Return whether an address is meant to be a registry's."""
    return address.startswith(("oci:", "oci+http:"))


def registry_at(address: str, where: str) -> Registry:
    """Return the registry at an address, which was set `where`.

    Raises UsageError unless it is oci://HOST[:PORT]/NAME, or oci+http:// without TLS.
    """
    match = _ADDRESS.fullmatch(address)
    if not match:
        raise UsageError(
            f"{where} has an address of a registry that cannot be used",
            expected="oci://HOST/NAME in lower case; oci+http://HOST/NAME without TLS",
            found=public_url(address),
        )
    scheme, port = ("http", ":80") if match["plain"] else ("https", ":443")
    # A registry's own addresses leave the usual port out, and only those get the token.
    return Registry(f"{scheme}://{match['host'].lower().removesuffix(port)}", match["name"])


# Gets a document's bytes by its URL and headers, and raises what it likes.
Get = Callable[[str, dict[str, str]], bytes]
Authorize = Callable[[requests.PreparedRequest], requests.PreparedRequest]


def as_given(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Leave a request's Authorization as it is: without this, `requests` prefers ~/.netrc."""
    return request


class Tokens:
    """The tokens of one run for a registry, one for each repository and kind of access."""

    def __init__(self, registry: Registry, access: str = "pull") -> None:
        self.registry, self.access = registry, access
        self._tokens: dict[str, str] = {}

    def authorize(self, url: str) -> Authorize | None:
        """Return what adds the token to a request: only to the registry, not to other servers.

        It goes before ~/.netrc, which `requests` would use without it.
        """
        token = self._tokens.get(self._repository(url)) if self._is_own(url) else None
        if token is None:
            return None

        def add(request: requests.PreparedRequest) -> requests.PreparedRequest:
            request.headers["Authorization"] = token
            return request

        return add

    def _is_own(self, url: str) -> bool:
        return url.startswith(f"{self.registry.root}/v2/")

    def _repository(self, url: str) -> str:
        path = urlsplit(url).path.removeprefix("/v2/")
        return re.split(r"/(?:blobs|manifests|tags)/", path)[0]

    def answer(self, url: str, challenge: str, get: Get) -> bool:
        """Get what a registry asks for in the header WWW-Authenticate; return whether there is any.

        Raises FetchError if the answer has no token, and what `get` raises.
        """
        kind, _, rest = challenge.partition(" ")
        if not self._is_own(url):
            return False
        repository, user = self._repository(url), credentials(self.registry.host)
        if kind.lower() == "basic" and user:
            self._tokens[repository] = f"Basic {user}"
        elif kind.lower() == "bearer":
            self._tokens[repository] = f"Bearer {self._bearer(rest, repository, user, get)}"
        else:
            return False
        return True

    def _bearer(self, rest: str, repository: str, user: str | None, get: Get) -> str:
        try:
            fields = parse_keqv_list(parse_http_list(rest))
        except ValueError:
            fields = {}
        realm = fields.get("realm", "")
        if not re.match(r"https?://", realm):
            raise FetchError(
                f"{self.registry.root}: it names no address of tokens",
                found=ascii(public_url(realm)[:200]),
            )
        # A password does not go to a server without TLS unless the registry itself has none.
        trusted = realm.startswith("https:") or self.registry.root.startswith("http:")
        query = {"scope": f"repository:{repository}:{self.access}"}
        if service := fields.get("service"):
            query["service"] = service
        joint = "&" if "?" in realm else "?"
        headers = {"Authorization": f"Basic {user}"} if user and trusted else {}
        try:
            reply = json.loads(get(f"{realm}{joint}{urlencode(query)}", headers))
            token = reply.get("token") or reply["access_token"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FetchError(f"{public_url(realm)}: it gave no token") from error
        if not isinstance(token, str) or not re.fullmatch(r"[!-~]+", token):
            raise FetchError(f"{public_url(realm)}: it gave no token")
        return token


def credentials(host: str) -> str | None:
    """Return user:password in base64 for a registry, from `docker login`; None without."""
    folder = os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")  # noqa: PTH111
    try:
        entry = json.loads((Path(folder) / "config.json").read_bytes())["auths"][host]["auth"]
        base64.b64decode(entry, validate=True)
    except (OSError, ValueError, KeyError, TypeError, binascii.Error):
        return None
    return str(entry) or None
