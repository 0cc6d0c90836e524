"""Pins: each deb, each file of the package index, and each package of a lock, with its SHA-256.

A pin names no host: the user's own configuration does (stacks/sources/mirrors.py).
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import ConfigDict, Field

from stacks.core import yamlfile
from stacks.core.disk import explain_disk_errors, sha256_of, write_atomically
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.models import (
    FILE_NAME,
    IN_WORDS,
    SHA256,
    FileName,
    FilePath,
    Sha256,
    Strict,
    Version,
)

# Of the pins that are read from a file; what is made here is not checked again.
_STRICT = ConfigDict(extra="forbid", strict=True)
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")]
_Suite = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
_Size = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, order=True, kw_only=True)
class DebPin:
    """A file of Debian's archive; `path` is below the mirror's root.

    It is a binary package, or a file of the source package `name`.
    """

    __pydantic_config__ = _STRICT

    suite: _Suite
    name: _Name
    version: Version
    path: FilePath
    size: _Size
    sha256: Sha256

    @property
    def filename(self) -> str:
        """The last part of the path in the archive's pool."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, order=True, kw_only=True)
class IndexPin:
    """A wheel or source archive of the Python package index."""

    __pydantic_config__ = _STRICT

    name: _Name
    version: Version
    filename: FileName
    size: _Size
    sha256: Sha256


@dataclass(frozen=True)
class LockedPackage:
    """A conda package of a lock.

    depends: the match specs of what it needs. size: in bytes. moved: where the name of its channel
    leads today, if not to the URL.
    """

    name: str
    version: str
    build: str
    url: str
    sha256: str
    md5: str
    size: int
    depends: tuple[str, ...] = ()
    moved: str = ""

    @property
    def filename(self) -> str:
        """The last part of the URL."""
        return self.url.rsplit("/", 1)[-1]

    @property
    def subdir(self) -> str:
        """The package's folder in its channel."""
        return self.url.rsplit("/", 2)[-2]

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses to try, in order."""
        return (self.moved, self.url) if self.moved else (self.url,)


@dataclass(frozen=True, order=True)
class IndexFile:
    """A file of the Python package index, without its bytes."""

    __pydantic_config__ = _STRICT

    project: FileName
    version: Version
    file: FileName


T = TypeVar("T")
Pin = DebPin | IndexPin | LockedPackage
# The address of the packages in locks; `./invoke serve` answers there.
PORT = 8420
URL = f"http://localhost:{PORT}/theano-stacks"
PIN_AGAIN = "run `./invoke pin` to write recipes/sources.lock again"
HEADER = """\
# Every deb and every file of the package index that a build may use; and source packages, which
# are compiled or published.
# Made by `./invoke pin`, which also shows what changed; not meant to be edited by hand.
# No host is named here: mirrors and indexes come from the user's own configuration.
"""


def canonical(name: str) -> str:
    """Return a project's name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True)
class Pins:
    """All pins, sorted; one deb for each suite and name, one index file for each file name.

    sources: the files of whole source packages: what is compiled, and what is only published.
    """

    debs: tuple[DebPin, ...] = ()
    files: tuple[IndexPin, ...] = ()
    sources: tuple[DebPin, ...] = ()

    @cached_property
    def _debs(self) -> dict[tuple[str, str], DebPin]:
        return {(pin.suite, pin.name): pin for pin in self.debs}

    @cached_property
    def _files(self) -> dict[str, IndexPin]:
        return {pin.filename: pin for pin in self.files}

    @cached_property
    def _versions(self) -> dict[tuple[str, str], tuple[IndexPin, ...]]:
        versions: dict[tuple[str, str], tuple[IndexPin, ...]] = {}
        for pin in self.files:
            key = (canonical(pin.name), pin.version)
            versions[key] = (*versions.get(key, ()), pin)
        return versions

    def deb(self, suite: str, name: str) -> DebPin:
        """Return the pin of a deb in a suite; UsageError if there is none."""
        return _pinned(self._debs.get((suite, name)), f"deb {name} of {suite}")

    def source(self, suite: str, name: str) -> tuple[DebPin, ...]:
        """Return the pins of all files of a source package; UsageError if there are none."""
        pins = tuple(pin for pin in self.sources if (pin.suite, pin.name) == (suite, name))
        return _pinned(pins, f"source package {name} of {suite}")

    def file(self, filename: str) -> IndexPin:
        """Return the pin of an index file; UsageError if there is none."""
        return _pinned(self._files.get(filename), f"file {filename}")

    def version(self, name: str, version: str) -> tuple[IndexPin, ...]:
        """Return all pinned files of a project's version; UsageError if there are none."""
        found = self._versions.get((canonical(name), version))
        return _pinned(found, f"file of {name} {version}")


def _pinned(found: T | None, what: str) -> T:
    if not found:
        raise UsageError(f"no {what} is pinned", fix=PIN_AGAIN)
    return found


def write_pins(path: Path, pins: Pins) -> None:
    """Write pins as sorted YAML, one on each line: the same pins give the same bytes."""
    lines = [HEADER.rstrip()]
    groups: dict[str, Sequence[DebPin | IndexPin]] = {
        "debs": sorted(pins.debs),
        "files": sorted(pins.files),
        "sources": sorted(pins.sources),
    }
    for key, group in groups.items():
        lines.append(f"{key}:" if group else f"{key}: []")
        for pin in group:
            text = yaml.safe_dump(
                asdict(pin), default_flow_style=True, width=1 << 20, sort_keys=False
            )
            lines.append(f"- {text.strip()}")
    write_atomically(path, "\n".join(lines) + "\n")


def read_pins(path: Path) -> Pins:
    """Read what write_pins wrote, strictly.

    Raises UsageError with file and line, also for a path that leaves its folder and for two pins
    of the same file.
    """
    try:
        content, positions = yamlfile.read(path, _PinsFile)
        debs = [f"{deb.name} of {deb.suite}" for deb in content.debs]
        _check_unique("debs", debs, positions)
        sources = [f"{file.path} of {file.suite}" for file in content.sources]
        _check_unique("sources", sources, positions)
        _check_unique("files", [file.filename for file in content.files], positions)
    except UsageError as error:
        raise UsageError(error.what, fix=PIN_AGAIN) from None
    return Pins(
        debs=tuple(sorted(content.debs)),
        files=tuple(sorted(content.files)),
        sources=tuple(sorted(content.sources)),
    )


class _PinsFile(Strict):
    debs: tuple[DebPin, ...]
    files: tuple[IndexPin, ...]
    sources: tuple[DebPin, ...] = ()


def _check_unique(key: str, labels: Sequence[str], positions: yamlfile.Positions) -> None:
    first: dict[str, int] = {}
    for number, label in enumerate(labels):
        if first.setdefault(label, number) != number:
            where, other = positions.where((key, number)), positions.where((key, first[label]))
            raise UsageError(f"{where}: {label} is pinned twice, first at {other}")


def cached_path(cache: Path, pin: Pin) -> Path:
    """Return the path of a pinned file in the cache or vendored folder, whether or not it is there.

    Raises IntegrityError if the path would leave its folder: an index of the network may have named
    the file.
    """
    for text, pattern in ((pin.filename, FILE_NAME), (pin.sha256, SHA256)):
        if not re.fullmatch(pattern, text):
            raise IntegrityError(
                f"{pin.name} {pin.version} cannot be a file of the cache",
                expected=IN_WORDS[pattern],
                found=repr(text),
            )
    folder = cache / "sources" / "sha256" / pin.sha256[:2] / pin.sha256
    return folder / pin.filename


def digest_at(path: Path) -> str | None:
    """Return the SHA-256 of a file's bytes, None if it is missing, "a folder" if it is one."""
    with explain_disk_errors(path):
        try:
            return sha256_of(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError:
            return "a folder"
