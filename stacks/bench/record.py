"""What the parts of a result have in common."""

from __future__ import annotations

from pydantic import ConfigDict

from stacks.core.models import Strict

# What is beyond is no measurement, and arithmetic with it would not end well.
LEAST, MOST = 1e-15, 1e15


class Record(Strict):
    """A part of a result."""

    model_config = ConfigDict(allow_inf_nan=False)
