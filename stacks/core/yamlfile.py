"""YAML files that people edit, read strictly: every fault is told with its file, line and column.

Only plain YAML 1.2 is taken: no tags, no anchors, no merge keys, no empty values, no key twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StreamMark, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from stacks.core import validation
from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.validation import Keys

M = TypeVar("M", bound=BaseModel)

TAG = "tag:yaml.org,2002:"
SCALARS = {TAG + kind for kind in ("str", "bool", "int", "float")}


@dataclass(frozen=True)
class Place:
    """A line and a column, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Places:
    """Where the keys and the values of a file stand, by the keys that lead to them."""

    path: Path
    keys: dict[Keys, Place] = field(default_factory=dict)
    values: dict[Keys, Place] = field(default_factory=dict)

    def where(self, keys: Keys) -> str:
        """Return `file:line:column` of a value, of what holds it where there is no such value."""
        while keys and keys not in self.values:
            keys = keys[:-1]
        return self.at(self.values[keys])

    def at(self, place: Place) -> str:
        """Return `file:line:column` of a place; the file is relative where that is shorter."""
        return f"{display_path(self.path)}:{place.line}:{place.column}"


@dataclass(frozen=True)
class Document(Generic[M]):
    """A file's content as its model, and where each part of it stands."""

    value: M
    places: Places


def load(path: Path, model: type[M]) -> M:
    """Return a YAML file's content as a model; UsageError with file, line and column if it cannot.

    Values are validated as JSON would be: strictly, where a list serves for a tuple.
    """
    return read(path, model).value


def read(path: Path, model: type[M]) -> Document[M]:
    """As `load`, and keep the places for errors that only show later."""
    places = Places(path)
    node = _compose(path, places)
    data = _plain(node, (), places) if node else {}
    places.values.setdefault((), Place(1, 1))
    try:
        value = model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        told = [
            _fault(fault, places)
            for fault in validation.explain(error, model, {*places.values, *places.keys})
        ]
        raise UsageError("\n".join(told)) from None
    return Document(value, places)


def _fault(fault: validation.Fault, places: Places) -> str:
    at = places.keys.get(fault.keys) if fault.about_key else None
    where = places.at(at) if at else places.where(fault.keys)
    name = dotted(fault.keys)
    return f"{where}: {name}{': ' if name else ''}{fault.message}"


def dotted(keys: Keys) -> str:
    """Return keys as a person writes them: `extra.libraries[0]`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return text.removeprefix(".")


def _compose(path: Path, places: Places) -> Node | None:
    try:
        text = path.read_bytes().decode()
        yaml: Any = YAML(typ="safe", pure=True)
        node: Node | None = yaml.compose(text)
    except FileNotFoundError:
        raise UsageError(f"{display_path(path)}: no such file") from None
    except OSError as error:
        raise UsageError(f"{display_path(path)}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{display_path(path)}:{line}:1: expected text in UTF-8, found a byte that is not: "
            f"0x{error.object[error.start]:02x}"
        ) from None
    except MarkedYAMLError as error:
        what = error.problem if error.context is None else f"{error.problem}, {error.context}"
        where = places.at(_place(error.problem_mark or error.context_mark))
        raise UsageError(f"{where}: expected YAML: {what}") from None
    except (YAMLError, RecursionError) as error:
        what = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"{display_path(path)}: expected YAML: {what.splitlines()[0]}") from None
    return node


def _place(mark: StreamMark | None) -> Place:
    return Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)


def _plain(node: Node, keys: Keys, places: Places) -> Any:
    """Return a node as plain Python values and note where each one stands."""
    places.values[keys] = _place(node.start_mark)
    if node.anchor is not None:
        raise _refused(keys, places, "a value written out", f"the anchor {node.anchor!r}")
    if isinstance(node, MappingNode) and node.tag == f"{TAG}map":
        return dict(_pairs(node, keys, places))
    if isinstance(node, SequenceNode) and node.tag == f"{TAG}seq":
        return [_plain(item, (*keys, i), places) for i, item in enumerate(node.value)]
    if isinstance(node, ScalarNode) and node.tag in SCALARS:
        return _scalar(node)
    if node.tag == f"{TAG}null":
        places.values[keys] = places.keys.get(keys, places.values[keys])
        raise _refused(keys, places, "a value", "nothing: leave the key out where none is meant")
    if node.tag == f"{TAG}timestamp":
        raise _refused(keys, places, "text, a number, true or false", f"a date: {node.value}")
    raise _refused(keys, places, "a plain value", f"the tag {node.tag}")


def _pairs(node: MappingNode, keys: Keys, places: Places) -> Iterator[tuple[str, Any]]:
    for key, value in node.value:
        place = _place(key.start_mark)
        if key.tag != f"{TAG}str":
            places.values[keys] = place
            raise _refused(keys, places, "a key that is text", f"{key.value!r}: put it in quotes")
        name: str = key.value
        inner = (*keys, name)
        if inner in places.keys:
            raise UsageError(
                f"{places.at(place)}: {dotted(inner)}: expected each key once, "
                f"found it again; the first is in line {places.keys[inner].line}"
            )
        places.keys[inner] = place
        yield name, _plain(value, inner, places)


def _scalar(node: ScalarNode) -> str | bool | int | float:
    if node.tag == f"{TAG}str":
        return str(node.value)
    yaml: Any = YAML(typ="safe", pure=True)
    value: bool | int | float = yaml.constructor.construct_object(node)
    return value


def _refused(keys: Keys, places: Places, expected: str, found: str) -> UsageError:
    name = dotted(keys)
    return UsageError(
        f"{places.where(keys)}: {name}{': ' if name else ''}expected {expected}, found {found}"
    )
