"""What was measured of PyMC: its samplers, in results/samplers.json, and chains that run at once.

measurements/programs.py writes the first, measurements/sampling.py results/sampling.json. In their
rounds the samplers, or the environments, take turns.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from stacks.bench import store
from stacks.bench.intervals import Ratio, speedup
from stacks.bench.store import BadResultError
from stacks.core.models import Line, Strict
from stacks.core.workspace import Workspace

FILE, SAMPLING = "samplers.json", "sampling.json"
Kept = TypeVar("Kept", bound=Strict)
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


class Program(Strict):
    """A PyMC on a framework: the seconds of each start in its `sample`, None for one not ended.

    chosen: of openblas; one: of openblas with one thread for each chain; pip: of pip-default.
    """

    name: Line
    framework: Line
    chosen: tuple[Seconds, ...]
    one: tuple[Seconds, ...]
    pip: tuple[Seconds | None, ...]


class Sampling(Strict):
    """Chains of a model at once, by several PyMCs; limit: the seconds at which a start was ended.

    draws: of each chain, after as many to tune. date: the day, in UTC.
    """

    model: Line
    chains: int
    draws: int
    limit: Seconds
    cpu: Line
    cores: int
    date: Line
    programs: tuple[Program, ...]

    def gain(self, framework: str) -> Gain | None:
        """Return how many times as fast openblas is as pip-default; None if not measured."""
        for one in self.programs:
            if one.framework == framework:
                pip = [seconds or self.limit for seconds in one.pip]
                ended = statistics.median(pip) < self.limit
                return Gain(speedup(one.chosen, pip, "s"), ended)
        return None


@dataclass(frozen=True)
class Gain:
    """A ratio; ended: whether the slower programs did, else it is at least so much."""

    ratio: Ratio
    ended: bool


def read_samplers(workspace: Workspace) -> tuple[list[Samplers], list[BadResultError]]:
    """Return the samplers that are kept, and the errors of files that cannot be read."""
    return store.read_each(store.files(workspace, FILE), partial(_read, Samplers))


def read_samplings(workspace: Workspace) -> tuple[list[Sampling], list[BadResultError]]:
    """Return the chains that are kept, and the errors of files that cannot be read."""
    return store.read_each(store.files(workspace, SAMPLING), partial(_read, Sampling))


def _read(kind: type[Kept], path: Path) -> Kept:
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise BadResultError(
            f"{path}: not the figures of {path.stem}",
            found=str(error),
            fix="take the file that the measurement with `--store` writes",
        ) from error
