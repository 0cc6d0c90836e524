"""What a conda archive would write into an environment, read without unpacking it.

An archive of another channel is not trusted: a path that leads out of the environment is refused
here, before any tool unpacks or links it.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import zstandard

from stacks.core import jsonfile
from stacks.core.disk import explain_disk_errors
from stacks.core.errors import IntegrityError

BLOCK = 1 << 20
# The largest info/ file that is read into memory, in bytes; numpy's paths.json has 0.4 MB.
LARGEST = 64 << 20
PATHS, INDEX, LINK = INFO = ("info/paths.json", "info/index.json", "info/link.json")
# The largest long name or extended header, in bytes; tarfile reads them into memory.
LONGEST = 1 << 20
# Kinds of members that tar readers disagree on: global and Solaris headers, files with holes.
AMBIGUOUS = (tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE)
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


class _UnsafeError(Exception):
    """A fault inside an archive; _reported() adds the archive's name."""


class _StrictTarInfo(tarfile.TarInfo):
    """A member of a tar archive; tarfile takes a broken header for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _StrictTarInfo:
        if not any(buf):
            return super().frombuf(buf, encoding, errors)
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.TarError as error:
            raise _UnsafeError(f"a tar header is broken: {error}") from error
        if header.type in AMBIGUOUS:
            raise _UnsafeError(
                f"a header of the kind {header.type!r}, which readers read in two ways"
            )
        is_extended = header.type not in tarfile.REGULAR_TYPES
        if is_extended and not 0 <= header.size <= LONGEST:
            raise _UnsafeError(f"a name or header of {header.size} bytes")
        return header


def read_archive(path: Path) -> Archive:
    """Return what a .conda or .tar.bz2 archive installs.

    Sizes, modes and SHA-256 are those of the bytes in the archive, not of what it says of itself.
    Raises IntegrityError for an archive that is damaged, or that names a path outside of the
    environment.
    """
    with _reported(path):
        members = _Members()
        for tar in _tars(path):
            for member in tar:
                members.add(tar, member)
            _check_end(tar)
        return members.archive()


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn the faults of an archive into an IntegrityError that names it."""
    try:
        with explain_disk_errors(path):
            yield
    except (
        _UnsafeError,
        tarfile.TarError,
        zipfile.BadZipFile,
        zstandard.ZstdError,
        lzma.LZMAError,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
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


def _tars(path: Path) -> Iterator[tarfile.TarFile]:
    """Yield the tar archives in a conda archive, as streams."""
    if path.name.endswith(".tar.bz2"):
        with tarfile.open(path, mode="r|bz2", tarinfo=_StrictTarInfo) as tar:
            yield tar
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".tar.zst")]
        for section in ("info", "pkg"):
            count = sum(name.startswith(f"{section}-") for name in names)
            if count != 1:
                raise _UnsafeError(f"it has {count} {section}-*.tar.zst, not one")
        for name in sorted(names):
            with archive.open(name) as packed:
                plain = zstandard.ZstdDecompressor().stream_reader(packed, read_size=BLOCK)
                with plain, tarfile.open(fileobj=plain, mode="r|", tarinfo=_StrictTarInfo) as tar:
                    yield tar


def _check_end(tar: tarfile.TarFile) -> None:
    """Raise _UnsafeError if data follow the end of a tar archive: other readers may go on."""
    assert tar.fileobj is not None
    while block := tar.fileobj.read(BLOCK):
        if any(block):
            raise _UnsafeError("data follow the end of a tar archive")


@dataclass
class _Members:
    """The members of an archive: their entries, and the content of the metadata."""

    entries: dict[str, Entry] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    metadata: dict[str, Any] = field(default_factory=dict)

    def add(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        name = checked_path(member.name)
        if member.issparse():
            raise _UnsafeError(f"{name!r} has holes, which readers read in two ways")
        if member.isdir():
            self.folders.add(name)
            return
        if name in self.entries:
            raise _UnsafeError(f"two files have the path {name!r}")
        if member.issym():
            self.entries[name] = Entry(target=member.linkname)
        elif member.islnk():
            linked = self.entries.get(checked_path(member.linkname))
            if linked is None or linked.target is not None:
                raise _UnsafeError(f"{name!r} is a hard link to a missing file")
            self.entries[name] = linked
        elif member.isreg():
            content = tar.extractfile(member)
            assert content is not None
            digest, data = _digest(content, keep=name in INFO)
            if data is not None:
                self.metadata[name] = jsonfile.parse(data)
            self.entries[name] = Entry(bool(member.mode & 0o111), member.size, digest)
        else:
            raise _UnsafeError(f"{name!r} is neither file, folder nor link")

    def archive(self) -> Archive:
        """Return what the package installs: the files that its list of paths names."""
        for name in {*self.entries, *self.folders}:
            if outer := next((p for p in parents(name) if p in self.entries), None):
                raise _UnsafeError(f"{name!r} leads through {outer!r}, which is no folder")
        files = {}
        for name, rewritten in self._listed():
            entry = self.entries.get(name)
            if entry is None:
                raise _UnsafeError(f"{PATHS} names {name!r}, which is missing")
            if rewritten and entry.target is not None:
                raise _UnsafeError(f"{name!r} is a link, so no path can be written into it")
            files[name] = replace(entry, is_rewritten=rewritten)
        self._check_index()
        info = {name: self.entries[name].sha256 for name in INFO if name in self.metadata}
        return Archive(files, self.metadata[INDEX], info, tuple(self._scripts()))

    def _listed(self) -> Iterator[tuple[str, bool]]:
        """Yield the path of each file to install, and whether a path is written into it."""
        listed = self.metadata.get(PATHS)
        if not isinstance(listed, dict) or not isinstance(listed.get("paths"), list):
            raise _UnsafeError(f"it has no {PATHS} with a list of paths")
        for item in listed["paths"]:
            name = item.get("_path") if isinstance(item, dict) else None
            if not isinstance(name, str) or checked_path(name) != name:
                raise _UnsafeError(f"{PATHS} has an entry without a plain path: {item!r:.200}")
            placeholder = item.get("prefix_placeholder")
            if placeholder is not None and not (isinstance(placeholder, str) and placeholder):
                raise _UnsafeError(f"{name!r} has no text to be replaced: {placeholder!r:.200}")
            if item.get("path_type") != "directory":
                yield name, placeholder is not None

    def _check_index(self) -> None:
        index = self.metadata.get(INDEX)
        if not isinstance(index, dict):
            raise _UnsafeError(f"it has no {INDEX}")
        for key in ("name", "version", "build"):
            if not isinstance(index.get(key), str) or not PLAIN.fullmatch(index[key]):
                raise _UnsafeError(f"{INDEX}: {key} is not plain: {index.get(key)!r:.200}")
        if folder := index.get("python_site_packages_path"):
            if not isinstance(folder, str):
                raise _UnsafeError(f"{INDEX}: python_site_packages_path is not text")
            checked_path(folder)

    def _scripts(self) -> Iterator[str]:
        """Yield the names of the scripts that an installation writes into bin/."""
        link = self.metadata.get(LINK, {})
        noarch = link.get("noarch", {}) if isinstance(link, dict) else None
        points = noarch.get("entry_points", []) if isinstance(noarch, dict) else None
        if not isinstance(points, list):
            raise _UnsafeError(f"{LINK}: no list of entry points: {link!r:.200}")
        for text in points:
            match = ENTRY_POINT.fullmatch(text) if isinstance(text, str) else None
            if match is None or not match[1].strip("."):
                raise _UnsafeError(f"{LINK}: an entry point is not plain: {text!r:.200}")
            yield f"bin/{match[1]}"


def checked_path(name: str) -> str:
    """Return a member's path without `./`. Raises _UnsafeError if it leads out of the archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name or not parts:
        raise _UnsafeError(f"{name!r} is outside of the environment")
    return "/".join(parts)


def parents(name: str) -> Iterator[str]:
    """Yield the folders above a relative path, the nearest first."""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _digest(content: IO[bytes], *, keep: bool) -> tuple[str, bytes | None]:
    """Return the SHA-256 of a member, and with `keep` its bytes."""
    digest, copy = hashlib.sha256(), io.BytesIO()
    while block := content.read(BLOCK):
        digest.update(block)
        if keep:
            copy.write(block)
            if copy.tell() > LARGEST:
                raise _UnsafeError("its metadata is too large")
    return digest.hexdigest(), copy.getvalue() if keep else None
