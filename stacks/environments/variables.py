"""The environment variables of a program that runs in an environment."""

from __future__ import annotations

import os
from pathlib import Path

from verify.core import surroundings

# Leaves out the packages of the user's home.
USER_SITE = "PYTHONNOUSERSITE"


def environment(prefix: Path) -> dict[str, str]:
    """Return the environment variables for a program of an environment.

    Without those that are meant for another one: see verify/core/surroundings.py.
    """
    return {
        **surroundings.program(os.environ),
        "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        **own_variables(prefix),
    }


def own_variables(prefix: Path) -> dict[str, str]:
    """Return the environment variables, beside PATH, that name an environment to programs."""
    return {"CONDA_PREFIX": str(prefix), USER_SITE: "1"}
