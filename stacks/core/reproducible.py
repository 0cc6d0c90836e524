"""The clock and the environment variables that make output the same on every machine."""

from __future__ import annotations

import datetime
from pathlib import Path

# The time of every file and record that is made here.
CREATED = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
# The same as text (RFC 3339), and in seconds since 1970.
TIMESTAMP = CREATED.strftime("%Y-%m-%dT%H:%M:%SZ")
EPOCH = int(CREATED.timestamp())


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return all environment variables of a compiler or Python whose output must be reproducible.

    `folder` is its home and temporary folder. `variables` are added, and win. SOURCE_DATE_EPOCH
    is as in the reproducible-builds specification.
    """
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "SOURCE_DATE_EPOCH": str(EPOCH),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONWARNINGS": "ignore",
        **variables,
    }
