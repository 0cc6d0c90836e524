"""Conda packages of a few files, and a channel of them on the web server of a test."""

from __future__ import annotations

import bz2
import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import zstandard

from unit.helpers.serving import Site

PLACEHOLDER = "/opt/anaconda1anaconda2anaconda3" * 3


@dataclass(frozen=True)
class Package:
    """What a package has; a file with PLACEHOLDER in it gets the prefix's path there."""

    name: str
    version: str
    build: str
    depends: Sequence[str] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    noarch: bool = False

    @property
    def subdir(self) -> str:
        return "noarch" if self.noarch else "linux-64"

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}-{self.build}.tar.bz2"

    @property
    def index(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version,
            "build": self.build,
            "build_number": 0,
            "depends": list(self.depends),
            "subdir": self.subdir,
            "license": "BSD-3-Clause",
            "timestamp": 1,
            **({"noarch": "python"} if self.noarch else {}),
        }

    def archive(self) -> bytes:
        paths: list[dict[str, Any]] = []
        for name, data in self.files.items():
            paths.append(
                {
                    "_path": name,
                    "path_type": "hardlink",
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "size_in_bytes": len(data),
                }
            )
            if PLACEHOLDER.encode() in data:
                paths[-1] |= {"prefix_placeholder": PLACEHOLDER, "file_mode": "text"}
        paths += [{"_path": n, "path_type": "softlink", "size_in_bytes": 0} for n in self.links]
        contents = {
            **self.files,
            "info/index.json": json.dumps(self.index).encode(),
            "info/paths.json": json.dumps({"paths": paths, "paths_version": 1}).encode(),
        }
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, data in contents.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
            for name, target in self.links.items():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, target
                archive.addfile(entry)
        return bz2.compress(out.getvalue())


def serve(site: Site, path: str, packages: Sequence[Package], *, packed: bool = True) -> None:
    """Put a channel of the packages below a path of the site."""
    for subdir in ("linux-64", "noarch"):
        records = {}
        for package in packages:
            if package.subdir == subdir:
                data = package.archive()
                site.files[f"{path}/{subdir}/{package.file_name}"] = data
                records[package.file_name] = {
                    **package.index,
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "md5": hashlib.md5(data).hexdigest(),
                    "size": len(data),
                }
        index = {"info": {"subdir": subdir}, "packages": records, "packages.conda": {}}
        text = json.dumps(index).encode()
        name = f"{path}/{subdir}/repodata.json"
        if packed:
            site.files[f"{name}.zst"] = zstandard.compress(text)
        else:
            site.files[name] = text
