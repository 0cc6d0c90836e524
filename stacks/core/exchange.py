"""The exchange of two paths in one step: Linux's renameat2 with RENAME_EXCHANGE."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

# From linux/fs.h and fcntl.h.
RENAME_EXCHANGE, AT_FDCWD = 2, -100
# What the call fails with where the kernel, the C library or the file system lacks it; EXDEV is of
# overlayfs, for a folder from a lower layer.
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EXDEV)


def exchange(first: Path, second: Path) -> bool:
    """Exchange what two paths name; both must exist, on one file system.

    Returns False, and changes nothing, where the system cannot do it. Raises OSError as a rename
    does. Source: the manual page rename(2).
    """
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    names = os.fsencode(first), os.fsencode(second)
    if renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(second))
