"""Keep the frameworks off standard output, which the table needs.

They print the compiler's messages when something does not compile. They also raise them, so the
table shows them from the exception.
"""

from __future__ import absolute_import, division, print_function

import atexit
import contextlib
import os
import sys

# Open until the end: a module imported in the block may keep it, and write to it later.
_devnull = open(os.devnull, "w")  # noqa: SIM115
atexit.register(_devnull.close)


@contextlib.contextmanager
def output(loud=False):
    """Discard standard output in the block, unless `loud`."""
    stdout = sys.stdout
    if not loud:
        sys.stdout = _devnull
    try:
        yield
    finally:
        sys.stdout = stdout
