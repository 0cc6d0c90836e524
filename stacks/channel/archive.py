"""What a conda archive writes into an environment, read in one pass that may unpack it.

An archive of another channel is not trusted: a path that leads out of the environment is refused
here, before anything is written there.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, BinaryIO

import zstandard

from stacks.channel.strict_tar import BLOCK, UnsafeError, members_of
from stacks.core import jsonfile
from stacks.core.disk import explain_disk_errors
from stacks.core.errors import IntegrityError
from stacks.sources.unpack import limit_of

# The largest info/ file that is read into memory, in bytes; numpy's paths.json has 0.4 MB.
LARGEST = 64 << 20
PATHS, INDEX, LINK = INFO = ("info/paths.json", "info/index.json", "info/link.json")
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
    with _reported(path):
        members = _Members(into, limit_of(path))
        for tar, member in members_of(path):
            members.add(tar, member)
        return members.archive()


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn the faults of an archive into an IntegrityError that names it."""
    try:
        with explain_disk_errors(path):
            yield
    except (
        UnsafeError,
        tarfile.TarError,
        zipfile.BadZipFile,
        zstandard.ZstdError,
        lzma.LZMAError,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        OverflowError,
        AttributeError,
        KeyError,
        TypeError,
        RuntimeError,
    ) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise IntegrityError(
            f"{path.name} is refused: {error}",
            expected="a conda package whose paths stay inside the environment",
            found=path,
            fix="lock another build of this package, or take it from another channel",
        ) from error


@dataclass
class _Members:
    """The members of an archive: their entries, and the content of the metadata.

    target: the folder that they are written to, if any. left: the bytes that they may still have.
    """

    target: Path | None
    left: int
    entries: dict[str, Entry] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    metadata: dict[str, Any] = field(default_factory=dict)

    def add(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        name = checked_path(member.name)
        path = self.target / name if self.target else None
        if name in self.entries:
            raise UnsafeError(f"two files have the path {name!r}")
        # Before anything is written: a link in place of a folder would lead elsewhere.
        if outer := next((p for p in parents(name) if p in self.entries), None):
            raise UnsafeError(f"{name!r} leads through {outer!r}, which is no folder")
        if member.isdir():
            self._add_folder(name)
            return
        if name in self.folders:
            raise UnsafeError(f"{name!r} is a folder for other members")
        self._add_folder(name.rpartition("/")[0])
        if member.issym():
            self.entries[name] = Entry(target=member.linkname)
            if path:
                path.symlink_to(member.linkname)
        elif member.islnk():
            original = checked_path(member.linkname)
            linked = self.entries.get(original)
            if linked is None or linked.target is not None:
                raise UnsafeError(f"{name!r} is a hard link to a missing file")
            self.entries[name] = linked
            if path and self.target:
                path.hardlink_to(self.target / original)
        elif member.isreg():
            self.left -= member.size
            if self.left < 0:
                raise UnsafeError("it unpacks to far more bytes than such a package has")
            content = tar.extractfile(member)
            assert content is not None
            executable = bool(member.mode & 0o111)
            with _new_file(path, executable, member.mtime) as file:
                digest, data = _copy(content, file, keep=name in INFO)
            if data is not None:
                self.metadata[name] = jsonfile.parse(data)
            self.entries[name] = Entry(executable, member.size, digest)
        else:
            raise UnsafeError(f"{name!r} is neither file, folder nor link")

    def _add_folder(self, name: str) -> None:
        if name not in self.folders:
            self.folders |= {name, *parents(name)}
            if self.target:
                (self.target / name).mkdir(parents=True, exist_ok=True)

    def archive(self) -> Archive:
        """Return what the package installs: the files that its list of paths names."""
        files = {}
        for name, rewritten in self._listed():
            entry = self.entries.get(name)
            if entry is None:
                raise UnsafeError(f"{PATHS} names {name!r}, which is missing")
            if rewritten and entry.target is not None:
                raise UnsafeError(f"{name!r} is a link, so no path can be written into it")
            files[name] = replace(entry, is_rewritten=rewritten)
        self._check_index()
        info = {name: self.entries[name].sha256 for name in INFO if name in self.metadata}
        return Archive(files, self.metadata[INDEX], info, tuple(self._scripts()))

    def _listed(self) -> Iterator[tuple[str, bool]]:
        """Yield the path of each file to install, and whether a path is written into it."""
        listed = self.metadata.get(PATHS)
        if not isinstance(listed, dict) or not isinstance(listed.get("paths"), list):
            raise UnsafeError(f"it has no {PATHS} with a list of paths")
        for item in listed["paths"]:
            name = item.get("_path") if isinstance(item, dict) else None
            if not isinstance(name, str) or checked_path(name) != name:
                raise UnsafeError(f"{PATHS} has an entry without a plain path: {item!r:.200}")
            placeholder = item.get("prefix_placeholder")
            if placeholder is not None and not (isinstance(placeholder, str) and placeholder):
                raise UnsafeError(f"{name!r} has no text to be replaced: {placeholder!r:.200}")
            if item.get("path_type") != "directory":
                yield name, placeholder is not None

    def _check_index(self) -> None:
        index = self.metadata.get(INDEX)
        if not isinstance(index, dict):
            raise UnsafeError(f"it has no {INDEX}")
        for key in ("name", "version", "build"):
            if not isinstance(index.get(key), str) or not PLAIN.fullmatch(index[key]):
                raise UnsafeError(f"{INDEX}: {key} is not plain: {index.get(key)!r:.200}")
        if folder := index.get("python_site_packages_path"):
            if not isinstance(folder, str):
                raise UnsafeError(f"{INDEX}: python_site_packages_path is not text")
            checked_path(folder)

    def _scripts(self) -> Iterator[str]:
        """Yield the names of the scripts that an installation writes into bin/."""
        link = self.metadata.get(LINK, {})
        noarch = link.get("noarch", {}) if isinstance(link, dict) else None
        points = noarch.get("entry_points", []) if isinstance(noarch, dict) else None
        if not isinstance(points, list):
            raise UnsafeError(f"{LINK}: no list of entry points: {link!r:.200}")
        for text in points:
            match = ENTRY_POINT.fullmatch(text) if isinstance(text, str) else None
            if match is None or not match[1].strip("."):
                raise UnsafeError(f"{LINK}: an entry point is not plain: {text!r:.200}")
            yield f"bin/{match[1]}"


def checked_path(name: str) -> str:
    """Return a member's path without `./`. Raises UnsafeError if it leads out of the archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name or not parts:
        raise UnsafeError(f"{name!r} is outside of the environment")
    return "/".join(parts)


def parents(name: str) -> Iterator[str]:
    """Yield the folders above a relative path, the nearest first."""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


@contextmanager
def _new_file(path: Path | None, executable: bool, mtime: float) -> Iterator[BinaryIO | None]:
    """Give a new read-only file to be written, with its time of change; None without a path."""
    if path is None:
        yield None
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o555 if executable else 0o444)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.utime(descriptor, (mtime, mtime))


def _copy(content: IO[bytes], file: BinaryIO | None, *, keep: bool) -> tuple[str, bytes | None]:
    """Copy a member to a file, if any; return its SHA-256, and with `keep` its bytes."""
    digest, copy = hashlib.sha256(), io.BytesIO()
    while block := content.read(BLOCK):
        digest.update(block)
        if file:
            file.write(block)
        if keep:
            copy.write(block)
            if copy.tell() > LARGEST:
                raise UnsafeError("its metadata is too large")
    return digest.hexdigest(), copy.getvalue() if keep else None
