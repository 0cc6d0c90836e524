"""dask.distributed, installed when it is first asked for."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from stacks.developer import CLUSTER, prepare_tools


def prepare() -> None:
    """Have what is in requirements-cluster.lock in the running venv."""
    prepare_tools(Path(sys.prefix), CLUSTER)
    importlib.invalidate_caches()
