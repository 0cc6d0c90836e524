"""Writing blobs and manifests to a registry of the OCI distribution specification."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests

from stacks.core.disk import sha256_of
from stacks.core.errors import FetchError
from stacks.sources.connection import Allowance
from stacks.sources.download import size_at
from stacks.sources.mirrors import public_url
from stacks.sources.registry import Registry, Tokens
from stacks.sources.web import MissingError, environment_web

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY, EMPTY_TYPE = b"{}", "application/vnd.oci.empty.v1+json"
# Seconds: without any answer; for one upload.
TIMEOUT, LONGEST_UPLOAD = 300.0, 86400.0


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
        content = self.content
        if isinstance(content, Path):
            return f"sha256:{sha256_of(content)}"
        return f"sha256:{hashlib.sha256(content).hexdigest()}"


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


def _descriptor(layer: Blob) -> dict[str, Any]:
    title = {"annotations": {"org.opencontainers.image.title": layer.title}} if layer.title else {}
    return {"mediaType": layer.media_type, "digest": layer.digest, "size": layer.size, **title}
