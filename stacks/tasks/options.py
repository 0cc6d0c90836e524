"""Words and readings that several tasks share."""

from __future__ import annotations

from pathlib import Path

VARIANT = "a file of envs/variants by its name: see ./invoke list"
FRAMEWORK = (
    "a file of envs/frameworks by its name, without its version where there is only one "
    "(default: theano-1.0.5)"
)
CHANNEL = "another channel than the project's: its address, or a name as conda knows it"
FULL = "also the long timings: check_blas at 5000"
JSON = "write the report as JSON to this file, too"
CLUSTER = "on the machines of this dask scheduler: docs/cluster.md"


def path_of(text: str) -> Path | None:
    """Return the path that an option names, None where the option was left out."""
    return Path(text).expanduser().absolute() if text else None
