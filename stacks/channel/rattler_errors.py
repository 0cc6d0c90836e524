"""Errors of rattler as StacksErrors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rattler import exceptions
from rattler_build import RattlerBuildError

from stacks.core.disk import disk_error, explain_disk_errors
from stacks.core.errors import StacksError

# They have no common base class.
FAILURES = (
    exceptions.CacheDirError,
    exceptions.ConversionError,
    exceptions.ExtractError,
    exceptions.FetchRepoDataError,
    exceptions.GatewayError,
    exceptions.InstallerError,
    exceptions.IoError,
    exceptions.LinkError,
    exceptions.TransactionError,
    RattlerBuildError,
)


class CondaError(StacksError):
    """A conda package could not be made, read or installed."""


@contextmanager
def translated(path: Path, what: str) -> Iterator[None]:
    """Turn rattler's exceptions into a DiskError for an error of the disk, else into a CondaError.

    path: the folder or file that rattler works on. what: what failed.
    """
    with explain_disk_errors(path):
        try:
            yield
        except (*FAILURES, OSError) as error:
            # rattler's own OSErrors have the number in their text only.
            if isinstance(error, OSError) and error.errno:
                raise
            number = re.search(r"\(os error (\d+)\)", str(error))
            disk = number and disk_error(OSError(int(number.group(1)), str(error)), path)
            raise disk or CondaError(what, found=str(error)) from error
