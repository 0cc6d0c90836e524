"""Conda archives made in memory, sound and hostile ones, and a channel of small packages."""

import bz2
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from stacks.channel.package import Built
from stacks.core.disk import sha256_of
from stacks.environments.make.packages import PackageToInstall
from unit.helpers.archives import member, tar
from unit.helpers.serving import Site

Member = tuple[tarfile.TarInfo, bytes]


def file(name: str, body: bytes = b"body\n", mode: int = 0o644) -> Member:
    return member(name, mode=mode), body


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> Member:
    return member(name, kind, target, 0o777), b""


def listed(members: Sequence[Member]) -> list[dict[str, Any]]:
    """Return the entries of info/paths.json for the members."""
    return [
        {
            "_path": info.name,
            "path_type": "softlink" if info.issym() else "hardlink",
            "sha256": hashlib.sha256(body).hexdigest(),
            "size_in_bytes": len(body),
        }
        for info, body in members
        if not info.isdir()
    ]


def conda(
    folder: Path,
    *members: Member,
    paths: Sequence[object] | None = None,
    info: Sequence[Member] = (),
    file_name: str = "odd-1-0.conda",
    **index: Any,
) -> Path:
    """Write a .conda archive into a folder; `index` has keys of its info/index.json."""
    index = {"name": "odd", "version": "1", "build": "0", "build_number": 0, "depends": [],
             "subdir": "noarch", **index}  # fmt: skip
    entries = listed(members) if paths is None else paths
    own = [
        file("info/index.json", json.dumps(index).encode()),
        file("info/paths.json", json.dumps({"paths": entries, "paths_version": 1}).encode()),
        *info,
    ]
    sections = {"info": tar(*own), "pkg": tar(*members)}
    return write_conda(folder / file_name, sections)


def write_conda(path: Path, sections: dict[str, bytes]) -> Path:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("metadata.json", '{"conda_pkg_format_version": 2}')
        for name, data in sections.items():
            compressed = zstandard.ZstdCompressor().compress(data)
            archive.writestr(f"{name}-{path.stem}.tar.zst", compressed)
    path.write_bytes(out.getvalue())
    return path


def package_to_install(path: Path) -> PackageToInstall:
    """Return the package of an archive, as that of another channel."""
    package = PackageToInstall(f"http://channel/noarch/{path.name}", Built(path, sha256_of(path)))
    _ = package.archive
    return package


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
        members = [file(name, data) for name, data in self.files.items()]
        members += [link(name, target) for name, target in self.links.items()]
        paths = listed(members)
        for entry in paths:
            if PLACEHOLDER.encode() in self.files.get(entry["_path"], b""):
                entry |= {"prefix_placeholder": PLACEHOLDER, "file_mode": "text"}
        index = file("info/index.json", json.dumps(self.index).encode())
        content = json.dumps({"paths": paths, "paths_version": 1}).encode()
        return bz2.compress(tar(*members, index, file("info/paths.json", content)))


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
