"""What a conda archive writes into an environment, read in one pass that may unpack it.

An archive of another channel is not trusted: a path that leads out of the environment is refused
here, before anything is written there.
"""

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from stacks.core import records
from stacks.core.disk import explain_disk_errors, sha256_of
from stacks.sources.archives import FILE, FOLDER, HARD_LINK, LINK, BrokenError, Member, tar_members
from stacks.sources.unpack import Tree, checked_path, limit_of, reported

# The largest info/ file that is read into memory, in bytes; numpy's paths.json has 0.4 MB.
LARGEST = 64 << 20
PATHS, INDEX, SCRIPTS = INFO = ("info/paths.json", "info/index.json", "info/link.json")
# What a tool writes into file names and scripts: CEP 26 for the first, the wheel format's
# specification of entry points for the second.
PLAIN = re.compile(r"[A-Za-z0-9_.+!-]+")
ENTRY_POINT = re.compile(r"\s*([\w.-]+)\s*=\s*[A-Za-z_][\w.]*\s*:\s*[A-Za-z_][\w.]*\s*")


@dataclass(frozen=True)
class Entry:
    """A file, or with `target` a symbolic link.

    is_rewritten: whether an installation writes the environment's path into it.
    """

    executable: bool = False
    size: int = 0
    sha256: str = ""
    target: str | None = None
    is_rewritten: bool = False


@dataclass(frozen=True)
class Archive:
    """What a package installs: its files by their paths, and the scripts written for it.

    index: its info/index.json. info: the SHA-256 of each description that decides an installation.
    """

    files: Mapping[str, Entry]
    index: Mapping[str, Any]
    info: Mapping[str, str]
    scripts: tuple[str, ...] = ()


def read_archive(path: Path, into: Path | None = None) -> Archive:
    """Return what a .conda or .tar.bz2 archive installs.

    into: a folder to be made, which gets the archive's content; nothing is written outside of it,
    and after an error it has a part of the content. Sizes, modes and SHA-256 are those of the bytes
    in the archive, not of what it says of itself. Raises IntegrityError for an archive that is
    damaged, or that names a path outside of the environment, DiskError.
    """
    with (
        explain_disk_errors(path),
        reported(
            f"{path.name} is refused",
            expected="a conda package whose paths stay inside the environment",
            found=path,
            fix="lock another build of this package, or take it from another channel",
        ),
    ):
        if into:
            into.mkdir(parents=True, exist_ok=True)
        tree = Tree(into, replaces=False)
        entries: dict[str, Entry] = {}
        metadata: dict[str, Any] = {}
        for section in _sections(path):
            for member in tar_members(section, limit_of(path), strict=True):
                _add(tree, member, entries, metadata)
        return _archive(entries, metadata)


def is_unpacked(path: Path, folder: Path) -> bool:
    """Return whether a folder has each file that an archive installs, and no other but info/.

    Raises what read_archive raises.
    """
    if folder.is_symlink() or not folder.is_dir():
        return False
    files = read_archive(path).files
    found = (each for each in folder.rglob("*") if each.is_symlink() or not each.is_dir())
    names = {str(each.relative_to(folder)) for each in found}
    installed = {name for name in names if not name.startswith("info/")}
    return installed == files.keys() and all(
        _has(folder / name, entry) for name, entry in files.items()
    )


def _has(path: Path, entry: Entry) -> bool:
    if path.is_symlink() or not path.is_file():
        return path.is_symlink() and str(path.readlink()) == entry.target
    is_executable = bool(path.stat().st_mode & 0o111)
    return is_executable == entry.executable and sha256_of(path) == entry.sha256


def _sections(path: Path) -> Iterator[IO[bytes]]:
    """Yield the tar archives of a conda archive; BrokenError if readers may see different ones."""
    if path.name.endswith(".tar.bz2"):
        with path.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".tar.zst")]
        for section in ("info", "pkg"):
            count = sum(name.startswith(f"{section}-") for name in names)
            if count != 1:
                raise BrokenError(f"it has {count} {section}-*.tar.zst, not one")
        for name in sorted(names):
            with archive.open(name) as packed:
                yield packed


def _add(tree: Tree, member: Member, entries: dict[str, Entry], metadata: dict[str, Any]) -> None:
    """Add a member, read-only, to the tree and to the entries; the descriptions to the metadata."""
    mode = 0o555 if member.mode & 0o111 else 0o444
    member = replace(member, mode=0o755 if member.kind == FOLDER else mode)
    digest, kept = hashlib.sha256(), io.BytesIO()
    is_kept = checked_path(member.name) in INFO

    def use(block: bytes) -> None:
        digest.update(block)
        if is_kept and kept.write(block) and kept.tell() > LARGEST:
            raise BrokenError("its metadata is too large")

    name = tree.add(member, use)
    if member.kind == LINK:
        entries[name] = Entry(target=member.target)
    elif member.kind == HARD_LINK:
        entries[name] = entries[checked_path(member.target)]
    elif member.kind == FILE:
        entries[name] = Entry(bool(member.mode & 0o111), member.size, digest.hexdigest())
        if is_kept:
            metadata[name] = records.parse_json(kept.getvalue())


def _archive(entries: Mapping[str, Entry], metadata: Mapping[str, Any]) -> Archive:
    """Return what the package installs: the files that its list of paths names."""
    files = {}
    for name, rewritten in _listed(metadata.get(PATHS)):
        entry = entries.get(name)
        if entry is None:
            raise BrokenError(f"{PATHS} names {name!r}, which is missing")
        if rewritten and entry.target is not None:
            raise BrokenError(f"{name!r} is a link, so no path can be written into it")
        files[name] = replace(entry, is_rewritten=rewritten)
    _check_index(metadata.get(INDEX))
    info = {name: entries[name].sha256 for name in INFO if name in metadata}
    return Archive(files, metadata[INDEX], info, tuple(_scripts(metadata.get(SCRIPTS, {}))))


def _listed(listed: Any) -> Iterator[tuple[str, bool]]:
    """Yield the path of each file to install, and whether a path is written into it."""
    if not isinstance(listed, dict) or not isinstance(listed.get("paths"), list):
        raise BrokenError(f"it has no {PATHS} with a list of paths")
    for item in listed["paths"]:
        name = item.get("_path") if isinstance(item, dict) else None
        if not isinstance(name, str) or checked_path(name) != name:
            raise BrokenError(f"{PATHS} has an entry without a plain path: {item!r:.200}")
        placeholder = item.get("prefix_placeholder")
        if placeholder is not None and not (isinstance(placeholder, str) and placeholder):
            raise BrokenError(f"{name!r} has no text to be replaced: {placeholder!r:.200}")
        if item.get("path_type") != "directory":
            yield name, placeholder is not None


def _check_index(index: Any) -> None:
    if not isinstance(index, dict):
        raise BrokenError(f"it has no {INDEX}")
    for key in ("name", "version", "build"):
        if not isinstance(index.get(key), str) or not PLAIN.fullmatch(index[key]):
            raise BrokenError(f"{INDEX}: {key} is not plain: {index.get(key)!r:.200}")
    folder = index.get("python_site_packages_path")
    if folder and not (isinstance(folder, str) and checked_path(folder)):
        raise BrokenError(f"{INDEX}: python_site_packages_path is not the path of a folder")


def _scripts(link: Any) -> Iterator[str]:
    """Yield the names of the scripts that an installation writes into bin/."""
    noarch = link.get("noarch", {}) if isinstance(link, dict) else None
    points = noarch.get("entry_points", []) if isinstance(noarch, dict) else None
    if not isinstance(points, list):
        raise BrokenError(f"{SCRIPTS}: no list of entry points: {link!r:.200}")
    for text in points:
        match = ENTRY_POINT.fullmatch(text) if isinstance(text, str) else None
        if match is None or not match[1].strip("."):
            raise BrokenError(f"{SCRIPTS}: an entry point is not plain: {text!r:.200}")
        yield f"bin/{match[1]}"
