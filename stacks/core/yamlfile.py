"""The one reader of YAML files; every error names the file, the line and the column.

Only plain YAML 1.2 is taken: no tags, no anchors, no merge keys, no empty values, no key twice.
Size, nesting and number of values are limited, so that no file takes all memory or time.
"""

import itertools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from stacks.core import models
from stacks.core.console import display_path, plural
from stacks.core.errors import UsageError
from stacks.core.models import Keys
from stacks.core.paths import check_is_file

M = TypeVar("M", bound=BaseModel)
# A line and a column, both counted from 1.
Position = tuple[int, int]

# A hundred times what the largest file of the project has; deeper nesting has no meaning.
MAX_MEBIBYTES = 4
MAX_DEPTH = 32
MAX_VALUES = 100_000
# Python itself refuses to parse an integer of more than 4300 digits.
MAX_DIGITS = 1000
MAX_FAULTS = 20

# What the parser says, and what to do.
HINTS = {
    "mapping values are not allowed in this context": "put a value with `: ` in it in quotes",
    "found character that cannot start any token": "put the value in quotes; indent with blanks",
}

# libyaml's parser: ten times as fast as one in Python.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# The core schema of YAML 1.2.2, chapter 10.3.2, but for .inf and .nan.
NULL = re.compile(r"(~|null|Null|NULL)?")
BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# A timestamp of YAML 1.1, which other programs may take for one.
DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?")


@dataclass(frozen=True)
class Positions:
    """The positions of a file's keys and values, by the path of keys to each."""

    path: Path
    keys: dict[Keys, Position] = field(default_factory=dict)
    values: dict[Keys, Position] = field(default_factory=dict)

    def where(self, keys: Keys) -> str:
        """Return `file:line:column` of a value, or of what would contain it."""
        while keys and keys not in self.values:
            keys = keys[:-1]
        return self.at(self.values[keys])

    def at(self, position: Position) -> str:
        """Return `file:line:column` of a position."""
        return f"{display_path(self.path)}:{position[0]}:{position[1]}"


def load(path: Path, model: type[M]) -> M:
    """Return a YAML file's content as a model.

    Values are validated as JSON values are: strictly, but a list is valid for a tuple. Raises
    UsageError with file, line and column.
    """
    return read(path, model)[0]


def read(path: Path, model: type[M]) -> tuple[M, Positions]:
    """Do as `load`, and return the positions of the parts, too, for later errors."""
    content, positions = parse(path, read_bytes(path))
    return validate(content, positions, model), positions


def read_bytes(path: Path) -> bytes:
    """Return a YAML file's bytes; UsageError if it is missing, too large, or not a file."""
    try:
        check_is_file(path, display_path(path))
        with path.open("rb") as file:
            data = file.read((MAX_MEBIBYTES << 20) + 1)
    except FileNotFoundError:
        raise UsageError(f"{display_path(path)}: no such file") from None
    except OSError as error:
        raise UsageError(f"{display_path(path)}: {error.strerror}") from error
    if len(data) > MAX_MEBIBYTES << 20:
        raise UsageError(f"{display_path(path)}: expected at most {MAX_MEBIBYTES} MiB, found more")
    return data


def validate(content: Any, positions: Positions, model: type[M]) -> M:
    """Return parsed content as a model; UsageError with the position of each fault."""
    try:
        return model.model_validate_json(json.dumps(content))
    except ValidationError as error:
        faults = models.explain(error, model, {*positions.values, *positions.keys})
        lines = [_message(fault, positions) for fault in itertools.islice(faults, MAX_FAULTS)]
        if more := sum(1 for _ in faults):
            lines.append(f"{display_path(positions.path)}: {plural(more, 'more fault')}")
        raise UsageError("\n".join(lines)) from None


def parse(path: Path, data: bytes) -> tuple[Any, Positions]:
    """Return the plain values in a file's bytes and their positions; an empty file gives {}.

    Raises UsageError with file and line.
    """
    positions = Positions(path)
    try:
        value = _Reader(data.decode(), positions).document()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{display_path(path)}:{line}:1: expected text in UTF-8, found a byte that is not: "
            f"0x{error.object[error.start]:02x}"
        ) from None
    except yaml.MarkedYAMLError as error:
        what = error.problem if error.context is None else f"{error.problem}, {error.context}"
        where = positions.at(_position(error.problem_mark or error.context_mark))
        hint = HINTS.get(str(error.problem))
        raise UsageError(f"{where}: expected YAML: {what}", fix=hint) from None
    except yaml.YAMLError as error:
        # A character that YAML forbids; its offset is in bytes.
        what = str(error).splitlines()[0]
        line = data[: getattr(error, "position", 0)].count(b"\n") + 1
        raise UsageError(f"{display_path(path)}:{line}:1: expected YAML: {what}") from None
    positions.values.setdefault((), (1, 1))
    return value, positions


def _message(fault: models.Fault, positions: Positions) -> str:
    at = positions.keys.get(fault.keys) if fault.about_key else None
    where = positions.at(at) if at else positions.where(fault.keys)
    return f"{where}: {_prefix(fault.keys)}{fault.message}"


def _prefix(keys: Keys) -> str:
    """Return keys as a person writes them, before a message: `extra.libraries[0]: `."""
    text = "".join(
        f"[{key}]" if isinstance(key, int) else f".{models.shortened(key)}" for key in keys
    )
    return f"{text.removeprefix('.')}: " if keys else ""


def _position(mark: Any) -> Position:
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


class _Reader:
    """Makes plain values of a YAML parser's events."""

    def __init__(self, text: str, positions: Positions) -> None:
        self._events: Iterator[Any] = (
            event
            for event in yaml.parse(text, Loader=LOADER)
            if not isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent))
        )
        self._positions = positions

    def document(self) -> Any:
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return {}
        value = self._value(event, ())
        next(self._events)
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise UsageError(
                f"{self._positions.at(_position(event.start_mark))}: "
                "expected the end of the document, found another one"
            )
        return value

    def _value(self, event: Any, keys: Keys) -> Any:
        position = _position(event.start_mark)
        # Checked while the events come: what follows is never read.
        for is_beyond, limit in (
            (len(keys) > MAX_DEPTH, f"{MAX_DEPTH} levels of nesting"),
            (len(self._positions.values) >= MAX_VALUES, f"{MAX_VALUES} values"),
        ):
            if is_beyond:
                where = self._positions.at(position)
                raise UsageError(f"{where}: expected at most {limit}, found more")
        self._positions.values[keys] = position
        if event.anchor is not None:
            self._refuse(keys, "a value written out", _anchor(event))
        if event.tag not in (None, "!"):
            self._refuse(keys, "a plain value", f"the tag {event.tag}")
        if isinstance(event, yaml.MappingStartEvent):
            return dict(self._pairs(keys))
        if isinstance(event, yaml.SequenceStartEvent):
            return list(self._items(keys))
        return self._scalar(event.value, keys) if event.implicit[0] else event.value

    def _items(self, keys: Keys) -> Iterator[Any]:
        for number, event in enumerate(self._events):
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._value(event, (*keys, number))

    def _pairs(self, keys: Keys) -> Iterator[tuple[str, Any]]:
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                return
            position = _position(event.start_mark)
            name: Any = getattr(event, "value", None)
            if not _is_text_key(event):
                self._positions.values[keys] = position
                is_alias = isinstance(event, yaml.AliasEvent)
                found = _anchor(event) if is_alias else f"{name!r}: put it in quotes"
                self._refuse(keys, "a key that is text", found)
            inner = (*keys, name)
            if inner in self._positions.keys:
                raise UsageError(
                    f"{self._positions.at(position)}: {_prefix(inner)}expected each key once, "
                    f"found it again; the first is in line {self._positions.keys[inner][0]}"
                )
            self._positions.keys[inner] = position
            yield name, self._value(next(self._events), inner)

    def _scalar(self, text: str, keys: Keys) -> str | bool | int | float:
        if len(text) > MAX_DIGITS and INTEGER.fullmatch(text):
            most = f"a number of at most {MAX_DIGITS} digits"
            self._refuse(keys, most, f"{len(text)} characters")
        value = _plain(text)
        if value is None:
            if keys in self._positions.keys:
                self._positions.values[keys] = self._positions.keys[keys]
            self._refuse(keys, "a value", "nothing: leave the key out where none is meant")
        if value in (math.inf, -math.inf):
            self._refuse(keys, "a number of at most 1.7e308", text)
        if isinstance(value, str) and DATE.fullmatch(value):
            self._refuse(keys, "text, a number, true or false", f"a date: {value}")
        return value

    def _refuse(self, keys: Keys, expected: str, found: str) -> NoReturn:
        where = self._positions.where(keys)
        raise UsageError(f"{where}: {_prefix(keys)}expected {expected}, found {found}")


def _anchor(event: Any) -> str:
    kind = "alias" if isinstance(event, yaml.AliasEvent) else "anchor"
    return f"the {kind} {event.anchor!r}"


def _is_text_key(event: Any) -> bool:
    if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag not in (None, "!"):
        return False
    return not event.implicit[0] or (event.value != "<<" and isinstance(_plain(event.value), str))


def _plain(text: str) -> str | bool | int | float | None:
    """Return the value of a scalar without quotes."""
    if NULL.fullmatch(text):
        return None
    if BOOL.fullmatch(text):
        return text.lower() == "true"
    if INTEGER.fullmatch(text):
        return int(text, 0) if text[1:2] in ("o", "x") else int(text)
    return float(text) if FLOAT.fullmatch(text) else text
