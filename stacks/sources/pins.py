"""Pins: every deb and every file from the package index, by name, version, size and SHA-256.

A pin names no host. Where the bytes come from is the user's own configuration
(stacks/sources/fetch.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import yaml

from stacks.core.disk import write_atomically
from stacks.core.errors import UsageError


@dataclass(frozen=True, order=True, kw_only=True)
class DebPin:
    """A file of Debian's archive; `path` is below the mirror's root.

    That is a binary package, or for a name with SOURCE_PREFIX the archive of the software's makers
    that a source package has.
    """

    suite: str
    name: str
    version: str
    path: str
    size: int
    sha256: str

    @property
    def filename(self) -> str:
        """The last part of the path in the archive's pool."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, order=True, kw_only=True)
class IndexPin:
    """A wheel or source archive of the Python package index."""

    name: str
    version: str
    filename: str
    size: int
    sha256: str


@dataclass(frozen=True, order=True, kw_only=True)
class CondaPin:
    """A package of a conda channel, and where to ask for it: its lock says so."""

    name: str
    version: str
    filename: str
    size: int
    sha256: str
    urls: tuple[str, ...]


Pin = DebPin | IndexPin | CondaPin
# Debian's own way of telling a source package from a binary one of the same name.
SOURCE_PREFIX = "src:"
PIN_AGAIN = "run `./invoke pin` to write recipes/sources.lock anew"
HEADER = """\
# Every deb and every file of the package index that a build may use.
# Made by `./invoke pin`, which also shows what changed; not meant to be edited by hand.
# No host is named here: mirrors and indexes come from the user's own configuration.
"""


def canonical(name: str) -> str:
    """Return a project's name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True)
class Pins:
    """All pins, sorted; one deb for a suite and name, one index file for a file name."""

    debs: tuple[DebPin, ...] = ()
    files: tuple[IndexPin, ...] = ()

    @cached_property
    def _debs(self) -> dict[tuple[str, str], DebPin]:
        return {(pin.suite, pin.name): pin for pin in self.debs}

    @cached_property
    def _files(self) -> dict[str, IndexPin]:
        return {pin.filename: pin for pin in self.files}

    @cached_property
    def _versions(self) -> dict[tuple[str, str], tuple[IndexPin, ...]]:
        found: dict[tuple[str, str], tuple[IndexPin, ...]] = {}
        for pin in self.files:
            key = (canonical(pin.name), pin.version)
            found[key] = (*found.get(key, ()), pin)
        return found

    def deb(self, suite: str, name: str) -> DebPin:
        """Return the pinned deb of that name in that suite; UsageError where there is none."""
        try:
            return self._debs[suite, name]
        except KeyError:
            raise UsageError(f"no deb {name} of {suite} is pinned", fix=PIN_AGAIN) from None

    def file(self, filename: str) -> IndexPin:
        """Return the pinned index file of that file name; UsageError where there is none."""
        try:
            return self._files[filename]
        except KeyError:
            raise UsageError(f"no file {filename} is pinned", fix=PIN_AGAIN) from None

    def version(self, name: str, version: str) -> tuple[IndexPin, ...]:
        """Return all pinned files of a project's version; UsageError where there are none."""
        try:
            return self._versions[canonical(name), version]
        except KeyError:
            raise UsageError(f"no file of {name} {version} is pinned", fix=PIN_AGAIN) from None


def write_pins(path: Path, pins: Pins) -> None:
    """Write pins as YAML, one a line, sorted: the same pins always give the same bytes."""
    lines = [HEADER.rstrip()]
    for key, group in (("debs", sorted(pins.debs)), ("files", sorted(pins.files))):
        lines.append(f"{key}:" if group else f"{key}: []")
        lines += [f"- {_flow(asdict(pin))}" for pin in group]
    write_atomically(path, "\n".join(lines) + "\n")


def _flow(mapping: dict[str, object]) -> str:
    text: str = yaml.safe_dump(mapping, default_flow_style=True, width=1 << 20, sort_keys=False)
    return text.strip()


def read_pins(path: Path) -> Pins:
    """Read what write_pins wrote, strictly.

    Raises UsageError with file and line for an unknown, missing or doubled key, a wrong type, a
    SHA-256 that is none, a path that could leave its folder, a pin that is there twice.
    """
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=_LOADER)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", fix=PIN_AGAIN) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}", expected="UTF-8 text", fix=PIN_AGAIN) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(
            f"{path}:{line}: not YAML: {error.problem or error.context}", fix=PIN_AGAIN
        ) from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not YAML: {error}", fix=PIN_AGAIN) from error
    if root is None:
        raise UsageError(f"{path}: empty", expected="the keys debs, files", fix=PIN_AGAIN)
    top = _mapping(path, root, ("debs", "files"))
    return Pins(
        debs=_pins(path, top["debs"], DebPin, lambda pin: f"deb {pin.name} of {pin.suite}"),
        files=_pins(path, top["files"], IndexPin, lambda pin: f"file {pin.filename}"),
    )


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PART = r"(?!\.)[A-Za-z0-9._+~:!-]+"
_SHAPES = {
    "suite": (re.compile(r"[a-z][a-z0-9-]*"), "a suite's name"),
    "name": (re.compile(r"(src:)?[A-Za-z0-9][A-Za-z0-9._+-]*"), "a package's name"),
    "version": (re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~:!-]*"), "a version"),
    "path": (re.compile(rf"{_PART}(/{_PART})+"), "a path below a mirror's root, like pool/..."),
    "filename": (re.compile(_PART), "a file name, without a folder"),
    "sha256": (re.compile(r"[0-9a-f]{64}"), "64 hexadecimal digits in lower case"),
}
_KINDS = {
    yaml.ScalarNode: "a single value",
    yaml.SequenceNode: "a list",
    yaml.MappingNode: "a mapping",
}
P = TypeVar("P", DebPin, IndexPin)


def _wrong(path: Path, node: yaml.Node, what: str, expected: str, found: str) -> UsageError:
    return UsageError(
        f"{path}:{node.start_mark.line + 1}: {what}",
        expected=expected,
        found=found,
        fix=PIN_AGAIN,
    )


def _mapping(path: Path, node: yaml.Node, keys: tuple[str, ...]) -> dict[str, yaml.Node]:
    wanted = "the keys " + ", ".join(keys)
    if not isinstance(node, yaml.MappingNode):
        raise _wrong(path, node, "not a mapping", wanted, _KINDS[type(node)])
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if key.value not in keys:
            raise _wrong(path, key, "unknown key", wanted, str(key.value))
        if key.value in found:
            raise _wrong(path, key, "a key twice", wanted, f"{key.value} again")
        found[key.value] = value
    if len(found) != len(keys):
        missing = ", ".join(key for key in keys if key not in found)
        raise _wrong(path, node, "missing key", wanted, f"no {missing}")
    return found


def _pins(path: Path, node: yaml.Node, kind: type[P], told: Callable[[P], str]) -> tuple[P, ...]:
    if not isinstance(node, yaml.SequenceNode):
        raise _wrong(path, node, "not a list", "a list of pins", _KINDS[type(node)])
    keys = tuple(field.name for field in fields(kind))
    seen: dict[str, yaml.Node] = {}
    pins: list[P] = []
    for item in node.value:
        values = _values(path, _mapping(path, item, keys))
        pin = kind(**values)  # type: ignore[arg-type]  # _values gives each key its field's type
        if (told_pin := told(pin)) in seen:
            first = seen[told_pin].start_mark.line + 1
            raise _wrong(path, item, "a pin twice", f"one {told_pin}", f"one in line {first} too")
        seen[told_pin] = item
        pins.append(pin)
    return tuple(sorted(pins))


def _values(path: Path, mapping: dict[str, yaml.Node]) -> dict[str, str | int]:
    values: dict[str, str | int] = {}
    for key, node in mapping.items():
        text = str(node.value)
        if key == "size":
            if node.tag != "tag:yaml.org,2002:int" or not re.fullmatch(r"[1-9][0-9]*", text):
                raise _wrong(path, node, "wrong size", "a number of bytes", text)
            values[key] = int(text)
            continue
        shape, expected = _SHAPES[key]
        if node.tag != "tag:yaml.org,2002:str" or not shape.fullmatch(text):
            raise _wrong(path, node, f"wrong {key}", f"{expected}, as a string", text)
        values[key] = text
    return values


def total_size(pins: Iterable[Pin]) -> int:
    """Return how many bytes the pinned files are together."""
    return sum(pin.size for pin in pins)
