"""JSON schemas of envs/ and results/, for editors and other readers; made from the models."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from stacks.bench.result import Result
from stacks.core.disk import write_whole
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.core.yamlfile import shown
from stacks.variants.files import BlasFile, FlavourFile, FrameworkFile

MODELS: dict[str, type[BaseModel]] = {
    "envs/blas.schema.json": BlasFile,
    "envs/framework.schema.json": FrameworkFile,
    "envs/variant.schema.json": FlavourFile,
    "results/result.schema.json": Result,
}


class _WithoutNull(GenerateJsonSchema):
    """Leaves out the default null: it says "not given", and cannot be written in a file."""

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().default_schema(schema)
        return {k: v for k, v in made.items() if (k, v) != ("default", None)}


def schema_of(model: type[BaseModel]) -> str:
    """Return a model's JSON schema as the text of a file."""
    made = model.model_json_schema(schema_generator=_WithoutNull)
    head = {"$schema": _WithoutNull.schema_dialect}
    return json.dumps({**head, **made}, indent=2, ensure_ascii=False) + "\n"


def write(
    workspace: Workspace,
) -> None:
    """Write every schema into its folder below `root`."""
    for name, model in MODELS.items():
        write_whole(workspace.root / name, schema_of(model))


def check(
    workspace: Workspace,
) -> None:
    """Raise StaleError where a schema below `root` is not the one that its model gives."""
    stale = [
        str(shown(workspace.root / name))
        for name, model in MODELS.items()
        if not (workspace.root / name).is_file()
        or (workspace.root / name).read_text() != schema_of(model)
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: no longer what the models give",
            fix="run `./invoke schema` and commit what it writes",
        )
