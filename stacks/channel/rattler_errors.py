"""What goes wrong inside rattler, told as all other failures are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rattler import exceptions
from rattler_build import RattlerBuildError

from stacks.core.disk import explain_disk_errors, refusal
from stacks.core.errors import StacksError

# They have no class of their own in common.
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
def translated(place: Path, what: str) -> Iterator[None]:
    """Turn rattler's exceptions into a DiskError where the disk refused, else into a CondaError.

    `place` is where it works, and `what` says what it could not do.
    """
    with explain_disk_errors(place):
        try:
            yield
        except FAILURES as error:
            number = re.search(r"\(os error (\d+)\)", str(error))
            refused = number and refusal(OSError(int(number.group(1)), str(error)), place)
            raise refused or CondaError(what, found=str(error)) from error
