"""PyMC's samplers on one model: kept in results/samplers.json, beside the frameworks' steps.

measurements/programs.py writes it, in whose rounds the samplers take turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from stacks.bench import store
from stacks.bench.store import BadResultError
from stacks.core.models import Line, Strict
from stacks.core.workspace import Workspace

FILE = "samplers.json"
Seconds = Annotated[float, Field(gt=0, lt=1e6)]


class Sampler(Strict):
    """A sampler: seconds to its first draw, in a second start too, and of a draw after that."""

    name: Line
    first: Seconds
    second: Seconds
    draw: Seconds


class Samplers(Strict):
    """The samplers of one PyMC in one environment; date: the day, in UTC."""

    program: Line
    environment: Line
    cpu: Line
    date: Line
    samplers: tuple[Sampler, ...]


def read_all(workspace: Workspace) -> tuple[list[Samplers], list[BadResultError]]:
    """Return what is kept, and the errors of files that cannot be read."""
    return store.read_each(store.files(workspace, FILE), _read)


def _read(path: Path) -> Samplers:
    try:
        return Samplers.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise BadResultError(
            f"{path}: not the figures of samplers",
            found=str(error),
            fix="take the file that `measurements/programs.py --store` writes",
        ) from error
