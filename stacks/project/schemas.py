"""From the models: JSON schemas of the files in envs/ and results/, and the page of files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from stacks.bench.result import Result
from stacks.core.console import display_path
from stacks.core.disk import write_atomically
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.environments.use.kernel import KernelFile
from stacks.variants.files import BlasFile, FlavourFile, FrameworkFile
from stacks.variants.stack import StackFile

MODELS: dict[str, type[BaseModel]] = {
    "envs/blas.schema.json": BlasFile,
    "envs/framework.schema.json": FrameworkFile,
    "envs/kernel.schema.json": KernelFile,
    "envs/variant.schema.json": FlavourFile,
    "results/result.schema.json": Result,
}


class _WithoutNull(GenerateJsonSchema):
    """Leaves out the default null, which cannot be written in a file."""

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        rendered = super().default_schema(schema)
        return {k: v for k, v in rendered.items() if (k, v) != ("default", None)}


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema."""
    return model.model_json_schema(schema_generator=_WithoutNull)


def schemas(workspace: Workspace) -> dict[Path, str]:
    """Return {path: text} of every schema."""
    dialect = {"$schema": _WithoutNull.schema_dialect}
    contents = {name: {**dialect, **json_schema(model)} for name, model in MODELS.items()}
    return {
        workspace.root / name: json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        for name, content in contents.items()
    }


def write(files: Mapping[Path, str]) -> None:
    """Write files that follow from the code, by path."""
    for path, text in files.items():
        write_atomically(path, text)


def check(files: Mapping[Path, str], task: str) -> None:
    """Raise StaleError with the committed files that differ; task: that which writes them."""
    stale = [
        display_path(path)
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not what the code gives",
            fix=f"./invoke {task}, then commit the files",
        )


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
