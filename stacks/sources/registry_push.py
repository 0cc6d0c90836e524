"""Writing blobs and manifests to a registry of the OCI distribution specification."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from stacks.core.errors import FetchError
from stacks.sources.mirrors import public_url
from stacks.sources.registry import LARGEST_REPLY, Registry, Tokens, as_given
from stacks.sources.retries import LONGEST_PAUSE
from stacks.sources.web import BROKEN, unreachable

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY, EMPTY_TYPE = b"{}", "application/vnd.oci.empty.v1+json"
# Seconds: to connect, and without any answer.
TIMEOUT = (15.0, 300.0)


@dataclass(frozen=True)
class Blob:
    """A blob of a manifest: its media type and its bytes, or the file that has them.

    title: the file name, where a person may look at the manifest.
    """

    media_type: str
    content: bytes | Path
    title: str = ""

    @property
    def size(self) -> int:
        """The number of bytes."""
        content = self.content
        return len(content) if isinstance(content, bytes) else content.stat().st_size

    @property
    def digest(self) -> str:
        """The digest as registries write it."""
        digest = hashlib.sha256()
        if isinstance(self.content, bytes):
            digest.update(self.content)
        else:
            with self.content.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return f"sha256:{digest.hexdigest()}"


class RegistryWriter:
    """Access to a registry that may be written; what it has already is not sent again."""

    def __init__(self, registry: Registry, verify: str | bool) -> None:
        self.registry = registry
        self._tokens = Tokens(registry, "pull,push")
        self._session = requests.Session()
        self._session.verify = verify
        # Only requests without a body: an upload that broke is begun anew by the next command.
        retries = urllib3.Retry(
            3,
            backoff_factor=0.5,
            status_forcelist=(429, 502, 503, 504),
            allowed_methods=("GET", "HEAD"),
            retry_after_max=int(LONGEST_PAUSE),
        )
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retries))

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
            "config": _descriptor(config),
            "layers": [_descriptor(layer) for layer in layers],
            "annotations": dict(annotations),
        }
        data = json.dumps(manifest, sort_keys=True).encode()
        url = f"{self.registry.root}/v2/{repository}/manifests/{tag}"
        self._ask("PUT", url, (201, 202), data, {"Content-Type": MANIFEST})
        return sent

    def _put_blob(self, repository: str, layer: Blob) -> int:
        root, digest = f"{self.registry.root}/v2/{repository}/blobs", layer.digest
        if self._ask("HEAD", f"{root}/{digest}", (200, 302, 307, 404)).status_code != 404:
            return 0
        begun = self._ask("POST", f"{root}/uploads/", (202,))
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
        body: bytes | Path | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> requests.Response:
        response = self._request(method, url, body, headers or {})
        challenge = response.headers.get("WWW-Authenticate", "")
        if response.status_code == 401 and self._tokens.answer(url, challenge, self._document):
            response = self._request(method, url, body, headers or {})
        if response.status_code not in accepted:
            denied = response.status_code in (401, 403)
            raise FetchError(
                f"{public_url(url)}: the registry answered {response.status_code} to {method}",
                found=ascii(response.text[:300]) if response.text else None,
                fix=self._login if denied else "try again; what was sent is kept",
            )
        return response

    @property
    def _login(self) -> str:
        return f"`docker login {self.registry.host}` stores a user and password that may push"

    def _request(
        self, method: str, url: str, body: bytes | Path | None, headers: Mapping[str, str]
    ) -> requests.Response:
        with body.open("rb") if isinstance(body, Path) else nullcontext(body) as data:
            try:
                response = self._session.request(
                    method,
                    url,
                    data=data,
                    headers=headers,
                    auth=self._tokens.authorize(url),
                    timeout=TIMEOUT,
                    allow_redirects=False,
                    stream=True,
                )
                response._content = response.raw.read(LARGEST_REPLY, decode_content=True)
            except BROKEN as error:
                raise unreachable(url, error) from error
        return response

    def _document(self, url: str, headers: Mapping[str, str]) -> bytes:
        try:
            response = self._session.get(
                url, headers=dict(headers), auth=as_given, timeout=TIMEOUT, stream=True
            )
            data = response.raw.read(LARGEST_REPLY, decode_content=True)
        except BROKEN as error:
            raise unreachable(url, error) from error
        if response.status_code != 200:
            raise FetchError(
                f"{public_url(url)}: the server of tokens answered {response.status_code}",
                fix=self._login,
            )
        return bytes(data)


def _descriptor(layer: Blob) -> dict[str, Any]:
    title = {"annotations": {"org.opencontainers.image.title": layer.title}} if layer.title else {}
    return {"mediaType": layer.media_type, "digest": layer.digest, "size": layer.size, **title}
