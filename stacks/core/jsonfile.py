"""The reader of JSON files that the project wrote itself and that may be damaged since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# Far above the largest record of a package with 20,000 files.
MAX_MEBIBYTES = 32


def read(path: Path) -> Any:
    """Return a JSON file's content.

    Raises OSError, or ValueError if the file is not JSON, too large, or too deeply nested.
    """
    with path.open("rb") as file:
        data = file.read((MAX_MEBIBYTES << 20) + 1)
    if len(data) > MAX_MEBIBYTES << 20:
        raise ValueError(f"more than {MAX_MEBIBYTES} MiB")
    return parse(data)


def parse(data: bytes | str) -> Any:
    """Return the value in JSON; ValueError if it is not JSON or too deeply nested."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("too deeply nested") from None
