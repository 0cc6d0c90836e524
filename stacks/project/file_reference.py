"""The reference of the YAML files that users edit, from their models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from stacks.project.schemas import json_schema
from stacks.variants.files import BlasFile, FlavourFile, FrameworkFile
from stacks.variants.stack import StackFile

# {what a person calls the file: its model}.
FILES: Mapping[str, type[BaseModel]] = {
    "stack.yaml": StackFile,
    "envs/variants/NAME.yaml": FlavourFile,
    "envs/frameworks/NAME.yaml": FrameworkFile,
    "envs/blas/NAME.yaml": BlasFile,
}
HEAD = """# Files

Made by `./invoke docs` from the models that read these files. An unknown key, a \
wrong type or a missing key is an error that names file, line and column. Editors that read JSON \
schemas show the same while you type: [variant](../../envs/variant.schema.json), \
[framework](../../envs/framework.schema.json), [blas](../../envs/blas.schema.json).

Paths are relative to the checkout, except for `stack.yaml`, which is \
[next to your code](../guides/your-own-code.md).
"""


def document() -> str:
    """Return the page of all files."""
    parts = (part for name, model in FILES.items() for part in _file(name, model))
    return "\n".join([HEAD, *parts])


def _file(name: str, model: type[BaseModel]) -> Iterator[str]:
    schema = json_schema(model)
    yield from _object(f"## {name}", schema)
    for part, definition in schema.get("$defs", {}).items():
        yield from _object(f"### {part}", definition)


def _object(heading: str, schema: Mapping[str, Any]) -> Iterator[str]:
    paragraphs = (" ".join(part.split()) for part in schema["description"].split("\n\n"))
    yield f"{heading}\n\n" + "\n\n".join(paragraphs) + "\n"
    yield "| key | value | default | |\n|---|---|---|---|"
    required = schema.get("required", ())
    for key, value in schema["properties"].items():
        default = "required" if key in required else _default(value)
        yield f"| `{key}` | {_type(value)} | {default} | {value.get('description', '')} |"
    yield ""


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    return "" if default in (None, [], {}) else f"`{json.dumps(default).strip(chr(34))}`"


def _type(value: Mapping[str, Any]) -> str:
    """Return the kind of a key's value in words."""
    match value:
        case {"enum": values}:
            return " or ".join(f"`{one}`" for one in values)
        case {"$ref": name}:
            return f"[{_part(name)}](#{_part(name).lower()})"
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "object"}:
            return "mapping of names to text"
        case {"type": "boolean"}:
            return "`true` or `false`"
        case {"type": "integer"}:
            return "number"
        case _:
            return "text"


def _part(reference: str) -> str:
    return reference.rpartition("/")[2]
