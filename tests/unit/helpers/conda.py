"""Conda archives made in memory, sound and hostile ones."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zstandard

from stacks.channel.package import Built
from stacks.core.disk import sha256_of
from stacks.environments.make.packages import Part
from unit.helpers.archives import member, tar

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


def part_of(path: Path) -> Part:
    """Return the package of an archive, as that of another channel."""
    part = Part(f"http://channel/noarch/{path.name}", Built(path, sha256_of(path)))
    _ = part.archive
    return part
