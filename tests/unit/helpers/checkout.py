"""This checkout, for tests that only read it: parametrized ones, and fixtures of a module."""

import os
from pathlib import Path

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace

# Nothing can be written below the null device.
CHECKOUT = Workspace(REPOSITORY, Path(os.devnull) / "cache")
