"""Import modules of verify/ where NumPy is not installed."""

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def suite_module(name: str) -> Any:
    """Return a module of verify/, with an empty numpy where there is none.

    The suite is written for Python 2.7 too, so it has no types.
    """
    is_missing = find_spec("numpy") is None
    if is_missing:
        sys.modules["numpy"] = ModuleType("numpy")
    try:
        return importlib.import_module(f"verify.{name}")
    finally:
        if is_missing:
            del sys.modules["numpy"]
