"""conda-lock, which writes locks and carries conda's code: installed when it is first needed.

It needs half of all packages of the tools, and building from a lock needs none of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from stacks.core.venv import LOCKING_LOCK, prepare_tools
from stacks.sources.vendored import pip_options


def prepare_conda_lock() -> None:
    """Install it into the running venv if it is not there. Raises CommandError if pip cannot."""
    prepare_tools(Path(sys.prefix), LOCKING_LOCK, options=pip_options())
