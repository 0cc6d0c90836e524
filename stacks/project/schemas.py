"""JSON schemas of the files in envs/ and results/, rendered from the models."""

from __future__ import annotations

import json
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


def schema_of(model: type[BaseModel]) -> str:
    """Return a model's JSON schema as the text of a file."""
    dialect = {"$schema": _WithoutNull.schema_dialect}
    return json.dumps({**dialect, **json_schema(model)}, indent=2, ensure_ascii=False) + "\n"


def write(workspace: Workspace) -> None:
    """Write every schema."""
    for name, model in MODELS.items():
        write_atomically(workspace.root / name, schema_of(model))


def check(workspace: Workspace) -> None:
    """Raise StaleError with the committed schemas that differ from the models'."""
    stale = [
        display_path(workspace.root / name)
        for name, model in MODELS.items()
        if not (workspace.root / name).is_file()
        or (workspace.root / name).read_text() != schema_of(model)
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not the schema of the model",
            fix="./invoke schema, then commit the files",
        )
