"""JSON schemas of the files in envs/, for editors; made from the models, committed beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from stacks.disk import write_whole
from stacks.envfiles import BlasFile, FlavourFile, FrameworkFile
from stacks.errors import StaleError
from stacks.variant import ENVS
from stacks.yamlfile import shown

MODELS: dict[str, type[BaseModel]] = {
    "blas.schema.json": BlasFile,
    "framework.schema.json": FrameworkFile,
    "variant.schema.json": FlavourFile,
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


def write(envs: Path = ENVS) -> None:
    """Write every schema into the folder."""
    for name, model in MODELS.items():
        write_whole(envs / name, schema_of(model))


def check(envs: Path = ENVS) -> None:
    """Raise StaleError where a schema in the folder is not the one that its model gives."""
    stale = [
        str(shown(envs / name))
        for name, model in MODELS.items()
        if not (envs / name).is_file() or (envs / name).read_text() != schema_of(model)
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: no longer what stacks/envfiles.py gives",
            mend="run `./invoke schema` and commit what it writes",
        )
