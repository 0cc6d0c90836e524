"""Find, copy, edit and remove files of a stage; record those of a Python package.

Symbolic links are never followed out of it. The name of a dist-info folder and its RECORD let pip
and importlib.metadata list, replace and remove the same files as conda: "Recording installed
projects" in the packaging specifications (PEP 376, 427 and 627).
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
from collections.abc import Container, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from stacks.core.errors import IntegrityError, UsageError
from stacks.sources.unpack import leading_out

NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
VERSION = re.compile(r"[A-Za-z0-9.!+_-]+")
# The files of an egg-info folder that a dist-info has under the same name.
SHARED = ("entry_points.txt", "top_level.txt")


def matches(folders: Sequence[Path], pattern: str, fix: str) -> list[Path]:
    """Return the paths below folders that match a pattern, sorted; UsageError if there is none."""
    found = [path for folder in folders for path in sorted(folder.glob(pattern))]
    if not found:
        raise UsageError(f"no {pattern} in the recipe's sources", fix=fix)
    return found


def only(paths: Iterable[Path], what: str, fix: str = "pin another version") -> Path:
    """Return the only one of paths; IntegrityError, which names `what` they are, for another count.

    what: names the source and the kind of file.
    """
    found = [*paths]
    if len(found) != 1:
        names = ", ".join(path.name for path in found)
        raise IntegrityError(what, expected="exactly one", found=names or "none", fix=fix)
    return found[0]


def copy_tree(source: Path, target: Path, left_out: Sequence[str] = ()) -> None:
    """Copy a folder, links as links, to the new folder `target`.

    left_out: patterns of names of files and folders.
    """
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if any(fnmatch(path.name, pattern) for pattern in left_out):
            continue
        if path.is_dir() and not path.is_symlink():
            copy_tree(path, target / path.name, left_out)
        else:
            shutil.copy2(path, target / path.name, follow_symlinks=False)


def replace_once(path: Path, old: bytes, new: bytes, fix: str, *, in_place: bool = False) -> None:
    """Replace bytes of a file; IntegrityError unless they occur exactly once.

    in_place: whether nothing may move: there must be as many new bytes.
    """
    content, first = path.read_bytes(), old.strip().splitlines()[0]
    if content.count(old) != 1 or (in_place and len(old) != len(new)):
        raise IntegrityError(
            f"{path.name} is not the file that the recipe was written for",
            expected=f"once {first!r}" + (f", to become {new!r}, as long" if in_place else ""),
            found=f"{content.count(old)} times",
            fix=fix,
        )
    path.write_bytes(content.replace(old, new))


def prune(folder: Path, patterns: Iterable[str], kept: Container[str] = ()) -> None:
    """Remove what matches patterns below a folder, except what has one of the names `kept`."""
    # By its name alone, glob finds no broken link.
    for path in [p for pattern in patterns for p in [*folder.glob(pattern)] or [folder / pattern]]:
        if path.name not in kept:
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_broken_links(root: Path) -> None:
    """Remove the links below a folder whose target does not exist."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink() and not path.exists():
            path.unlink()


def check_links(root: Path) -> None:
    """Raise IntegrityError for a link below the package's folder that leads out of it.

    A stage calls this after it has copied links, before it writes to what it has copied.
    """
    for link in leading_out(root):
        raise IntegrityError(
            f"{link.relative_to(root)}: the link leads out of the package",
            found=os.fspath(link.readlink()),
            fix="leave it out in the recipe, or pin another version of its source",
        )


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
