"""The base of all parts of a result."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from stacks.core.models import Strict

# Values outside are no measurements, and would overflow in arithmetic.
LEAST, MOST = 1e-15, 1e15
Count = Annotated[int, Field(le=10**15)]


class Record(Strict):
    """A part of a result."""

    model_config = ConfigDict(allow_inf_nan=False)


def rounded(value: float, digits: int) -> float:
    """Return a measured value with so many significant digits, which keeps files small."""
    return float(f"{value:.{digits}g}")
