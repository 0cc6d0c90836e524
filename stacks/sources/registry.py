"""Registries of the OCI distribution specification: conda packages are read and written there.

The digest of a package's blob is its SHA-256, which the lock has: a download is one GET, without a
tag or a manifest. A registry that wants a token says where it is to be had (Docker's token
authentication); anonymous ones are enough for public packages.
"""

import base64
import binascii
import hashlib
import json
import os
import re
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import parse_http_list, parse_keqv_list

import requests

from stacks.core.disk import sha256_of
from stacks.core.errors import FetchError, UsageError
from stacks.core.paths import check_is_file
from stacks.sources.connection import Allowance
from stacks.sources.download import size_at
from stacks.sources.mirrors import public_url
from stacks.sources.web import Get, MissingError, environment_web

# The specification's form of a repository's name, and a host with an optional port.
_NAME = r"[a-z0-9]+(?:[._-][a-z0-9]+)*(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*"
_HOST = r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?|\[[0-9a-f:]+\](?::[0-9]{1,5})?"
_ADDRESS = re.compile(rf"oci(?P<plain>\+http)?://(?P<host>{_HOST})/(?P<name>{_NAME})/?")

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY, EMPTY_TYPE = b"{}", "application/vnd.oci.empty.v1+json"
# Seconds: without any answer; for one upload.
TIMEOUT, LONGEST_UPLOAD = 300.0, 86400.0


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


class Tokens:
    """The tokens of one run for a registry, one for each repository and kind of access."""

    def __init__(self, registry: Registry, access: str = "pull") -> None:
        self.registry, self.access = registry, access
        self._tokens: dict[str, str] = {}

    def headers(self, url: str) -> dict[str, str]:
        """Return the header with the token: only for the registry, not for other servers."""
        token = self._tokens.get(self._repository(url)) if self._is_own(url) else None
        return {"Authorization": token} if token else {}

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
    file = Path(folder) / "config.json"
    check_is_file(file, str(file), folder=True)
    try:
        entry = json.loads(file.read_bytes())["auths"][host]["auth"]
        base64.b64decode(entry, validate=True)
    except (OSError, ValueError, KeyError, TypeError, binascii.Error):
        return None
    return str(entry) or None


@dataclass(frozen=True)
class Blob:
    """A blob of a manifest: its media type and its bytes, or the file that has them.

    title: the file name, where a person may look at the manifest. diff_id: of a compressed layer
    of an image, the digest of its tar archive.
    """

    media_type: str
    content: bytes | Path
    title: str = ""
    diff_id: str = ""

    @property
    def size(self) -> int:
        """The number of bytes."""
        content = self.content
        return len(content) if isinstance(content, bytes) else content.stat().st_size

    @cached_property
    def digest(self) -> str:
        """The digest as registries write it."""
        content = self.content
        if isinstance(content, Path):
            return f"sha256:{sha256_of(content)}"
        return f"sha256:{hashlib.sha256(content).hexdigest()}"

    @property
    def descriptor(self) -> dict[str, Any]:
        """The descriptor in a manifest."""
        found = {"mediaType": self.media_type, "digest": self.digest, "size": self.size}
        title = {"org.opencontainers.image.title": self.title}
        return {**found, "annotations": title} if self.title else found


class RegistryWriter:
    """Access to a registry that may be written; what it has already is not sent again."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        tokens = Tokens(registry, "pull,push")
        web = environment_web(threading.Event())
        self._web = replace(web, timeout=TIMEOUT, retries=3, tokens=tokens)

    def put_manifest(
        self, repository: str, tag: str, layers: Sequence[Blob], annotations: Mapping[str, str]
    ) -> int:
        """Write the layers' blobs and a manifest of them; return the number of bytes sent.

        Raises FetchError if the registry refuses it or does not answer.
        """
        config = Blob(EMPTY_TYPE, EMPTY)
        sent = sum(self._put_blob(repository, layer) for layer in (config, *layers))
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.descriptor,
            "layers": [layer.descriptor for layer in layers],
            "annotations": dict(annotations),
        }
        data = json.dumps(manifest, sort_keys=True).encode()
        url = f"{self.registry.root}/v2/{repository}/manifests/{tag}"
        self._ask("PUT", url, (201, 202), data, {"Content-Type": MANIFEST})
        return sent

    def _put_blob(self, repository: str, layer: Blob) -> int:
        root, digest = f"{self.registry.root}/v2/{repository}/blobs", layer.digest
        try:
            size_at(self._web, f"{root}/{digest}")
            return 0
        except MissingError:
            pass
        begun = self._ask("POST", f"{root}/uploads/", (202,), b"", {})
        place = urljoin(begun.url, begun.headers.get("Location", ""))
        if urlsplit(place).scheme != urlsplit(root).scheme:
            raise FetchError(
                f"{root}: it names another kind of address for an upload", found=public_url(place)
            )
        joint = "&" if "?" in place else "?"
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(layer.size)}
        self._ask("PUT", f"{place}{joint}digest={digest}", (201,), layer.content, headers)
        return layer.size

    def _ask(
        self,
        method: str,
        url: str,
        accepted: Collection[int],
        body: bytes | Path,
        headers: Mapping[str, str],
    ) -> requests.Response:
        """Send a body once: an upload that broke is begun anew by the next command."""
        allowance = Allowance(LONGEST_UPLOAD, self._web.least_rate)
        with self._web.get(url, headers, allowance, method, body) as response:
            if response.status_code not in accepted:
                raise FetchError(
                    f"{public_url(url)}: the registry answered {response.status_code} to {method}",
                    fix="try again; what was sent is kept",
                )
            return response
