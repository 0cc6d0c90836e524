"""The base of all models of files and messages."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A frozen model that refuses unknown keys and converts no types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
