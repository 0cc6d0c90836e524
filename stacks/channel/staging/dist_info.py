"""The dist-info folder of a Python package: its name, and the record of what is installed.

They let pip and importlib.metadata list, replace and remove the same files as conda: "Recording
installed projects" in the packaging specifications (PEP 376, 427 and 627).
"""

from __future__ import annotations

import base64
import csv
import email.parser
import hashlib
import io
import os
import re
import shutil
from pathlib import Path

from stacks.channel.staging.tree import only, remove
from stacks.core.errors import IntegrityError

NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
VERSION = re.compile(r"[A-Za-z0-9.!+_-]+")
# The files of an egg-info folder that a dist-info has under the same name.
SHARED = ("entry_points.txt", "top_level.txt")


def normalised(dist_info: Path, archive: str) -> Path:
    """Rename a dist-info folder to its normalised name, and return its new path.

    Name and version are those of its METADATA. Raises IntegrityError, which names `archive`, where
    they are missing or broken.
    """
    metadata = dist_info / "METADATA"
    try:
        text = metadata.read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
        text = ""
    message = email.parser.HeaderParser().parsestr(text)
    name, version = str(message["Name"] or ""), str(message["Version"] or "")
    if not (NAME.fullmatch(name) and VERSION.fullmatch(version)):
        raise IntegrityError(
            f"{archive}: the package's metadata is broken",
            expected="METADATA or PKG-INFO in UTF-8 with Name and Version",
            found=f"Name {name!r}, Version {version!r}",
            fix="pin another version",
        )
    name = re.sub(r"[-_.]+", "_", name).lower()
    return dist_info.rename(dist_info.with_name(f"{name}-{version.replace('-', '_')}.dist-info"))


def from_egg_info(root: Path, archive: str) -> Path | None:
    """Replace the egg-info below `root`, if there is one, by a dist-info; return its path.

    Raises IntegrityError, which names `archive`, for more than one egg-info and for broken
    metadata.
    """
    found = sorted(root.rglob("*.egg-info"))
    if not found:
        return None
    egg_info = only(
        found,
        f"{archive}: the package has more than one egg-info",
        "make a package of each: correct `extra.files` in the recipe",
    )
    metadata = egg_info / "PKG-INFO" if egg_info.is_dir() else egg_info
    dist_info = egg_info.with_suffix(".dist-info")
    dist_info.mkdir()
    copies = {metadata: "METADATA", **{egg_info / name: name for name in SHARED}}
    for path, name in copies.items():
        if path.is_file():
            shutil.copyfile(path, dist_info / name)
    remove(egg_info)
    return normalised(dist_info, archive)


def write_record(root: Path, dist_info: Path) -> None:
    """Write INSTALLER and RECORD for all files below `root`, the prefix of one package.

    Nothing may change a file afterwards. The paths are relative to the folder of `dist_info`, as
    they are when the package is installed.
    """
    (dist_info / "INSTALLER").write_text("conda\n")
    record = dist_info / "RECORD"
    record.write_bytes(b"")
    site = installed(dist_info.parent.relative_to(root).as_posix() + "/")
    rows = []
    for path in root.rglob("*"):
        if not path.is_file():
            continue
        name = os.path.relpath(installed(path.relative_to(root).as_posix()), site)
        data = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append((name, "", "") if path == record else (name, f"sha256={digest}", len(data)))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(sorted(rows))
    record.write_text(text.getvalue(), encoding="utf-8")


def installed(name: str, python: str = "") -> str:
    """Return where a conda client puts a file of a noarch package; python: its version, X.Y."""
    folder, slash, rest = name.partition("/")
    folders = {"site-packages": f"lib/python{python}/site-packages", "python-scripts": "bin"}
    return f"{folders.get(folder, folder)}{slash}{rest}"
