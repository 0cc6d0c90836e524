"""Publishing the channel in an OCI registry, in the layout that py-rattler reads.

A package is the repository CHANNEL/SUBDIR/NAME with the tag VERSION-BUILD. The index of a subdir is
CHANNEL/SUBDIR/repodata.json:latest. The list of digests and the sources are the project's own:
CHANNEL/index:latest and CHANNEL/sources:latest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from stacks.channel.index import SUBDIRS, IndexEntry
from stacks.core.console import step
from stacks.locks.publication import DIGESTS, Publication, source_path
from stacks.sources.registry import Registry
from stacks.sources.registry_push import Blob, RegistryWriter
from stacks.sources.web import environment_bundle

PACKAGE = "application/vnd.conda.package.v2"
PACKAGE_INDEX = "application/vnd.conda.info.index.v1+json"
REPODATA = "application/vnd.conda.repodata.v1+json"
FILE = "application/octet-stream"
ANNOTATIONS = {"org.conda.oci.schema": "1"}


def push(
    registry: Registry,
    published: Publication,
    paths: Mapping[str, Path],
    written: Mapping[str, bytes],
) -> None:
    """Push a publication; what the registry has already is not sent again.

    paths: the files of packages and sources. written: the other files, by path. The index comes
    last, so that it names nothing that is missing. Raises FetchError.
    """
    writer = RegistryWriter(registry, environment_bundle())
    with step("push", "") as summaries:
        sent = 0
        for entry in published.entries:
            sent += _push_package(writer, registry, entry, paths[entry.path])
        if published.sources:
            layers = [Blob(FILE, paths[source_path(p)], p.filename) for p in published.sources]
            sent += writer.put_manifest(f"{registry.name}/sources", "latest", layers, {})
        for subdir in SUBDIRS:
            sent += _push_repodata(writer, registry, subdir, written)
        names = [name for name in written if name.startswith(DIGESTS)]
        layers = [Blob(FILE, written[name], name) for name in sorted(names)]
        sent += writer.put_manifest(f"{registry.name}/index", "latest", layers, {})
        summaries.append(f"{registry.host}/{registry.name}: {sent / 1e6:.1f} MB sent")


def tag_of(entry: IndexEntry) -> str:
    """Return the tag of a package: a tag has no +, ! and =."""
    tag = f"{entry.package.version}-{entry.package.build}"
    return tag.replace("+", "__p__").replace("!", "__e__").replace("=", "__eq__")


def _push_package(writer: RegistryWriter, registry: Registry, entry: IndexEntry, path: Path) -> int:
    package = entry.package
    index = json.dumps(dict(entry.index), sort_keys=True).encode()
    return writer.put_manifest(
        registry.repository(entry.package.subdir, package.name),
        tag_of(entry),
        [Blob(PACKAGE, path, entry.package.file_name), Blob(PACKAGE_INDEX, index)],
        {
            **ANNOTATIONS,
            "org.conda.package.name": package.name,
            "org.conda.package.version": package.version,
            "org.conda.package.build": entry.package.build,
        },
    )


def _push_repodata(
    writer: RegistryWriter, registry: Registry, subdir: str, written: Mapping[str, bytes]
) -> int:
    layers = [
        Blob(REPODATA, written[f"{subdir}/repodata.json"], "repodata.json"),
        Blob(f"{REPODATA}+zst", written[f"{subdir}/repodata.json.zst"], "repodata.json.zst"),
    ]
    return writer.put_manifest(
        f"{registry.name}/{subdir}/repodata.json", "latest", layers, ANNOTATIONS
    )
