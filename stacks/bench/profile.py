"""A workload's profile in a result: the classes of operations that take most time, the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from stacks.bench.record import MOST, Count, Record, rounded
from stacks.core.models import Line
from stacks.profiles import compare as profile_compare

# The number of stored rows.
LARGEST = 12
DIGITS = 4


class OperationCost(Record):
    """The operations of one class, those inside scans among them, in all of the calls."""

    name: Line = Field(
        min_length=1,
        description="the class without its module; in brackets what is of no operation",
    )
    type: Literal["C", "Py", "C & Py", ""] = Field(
        description="its implementation; empty for what scan and function take beyond their nodes"
    )
    seconds: float = Field(ge=-MOST, le=MOST)
    calls: Count = Field(ge=0, description="how often operations of it ran")


class Rest(Record):
    """The classes that have no row of their own, summed."""

    classes: Count = Field(ge=0)
    seconds: float = Field(ge=-MOST, le=MOST)
    calls: Count = Field(ge=0)


class Compilation(Record):
    """Seconds of the compilation, as the framework counts them."""

    total: float = Field(ge=0, le=MOST)
    optimiser: float = Field(ge=0, le=MOST, description="validation is in it")
    validation: float = Field(ge=0, le=MOST)
    linker: float = Field(ge=0, le=MOST, description="the import of compiled modules is in it")
    import_: float = Field(alias="import", ge=0, le=MOST)
    modules: Count = Field(ge=0, description="compiled by the C++ compiler, not found in the cache")


class Profile(Record):
    """Some calls with the profile on, and the compilation before them."""

    calls: Count = Field(ge=1)
    seconds: float = Field(ge=0, le=MOST, description="of all these calls: rows and rest sum up")
    compile: Compilation
    rows: tuple[OperationCost, ...] = Field(min_length=1, description="the largest first")
    rest: Rest


def of_case(case: Mapping[str, Any]) -> Profile | None:
    """Return the profile of a case of a workload's report, None if it has none."""
    profile = case["profile"]
    if not profile:
        return None
    calls = profile["calls"]
    costs = profile_compare.operation_times(profile, "classes")
    names = sorted(costs, key=lambda name: (-costs[name].seconds, name))
    left = [costs[name] for name in names[LARGEST:]]
    return Profile.model_validate(
        {
            "calls": calls,
            "seconds": _short(profile["seconds"]),
            "compile": {key: _short(case["compile"][key]) for key in _COMPILATION}
            | {"modules": max(case["compile"]["modules"], 0)},
            "rows": tuple(
                {
                    "name": name,
                    "type": costs[name].type,
                    "seconds": _short(costs[name].seconds * calls),
                    "calls": round(costs[name].calls * calls),
                }
                for name in names[:LARGEST]
            ),
            "rest": Rest(
                classes=len(left),
                seconds=_short(sum(cost.seconds for cost in left) * calls),
                calls=round(sum(cost.calls for cost in left) * calls),
            ),
        }
    )


_COMPILATION = ("total", "optimiser", "validation", "linker", "import")


def _short(seconds: float) -> float:
    return rounded(seconds, DIGITS)
