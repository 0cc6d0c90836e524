"""Standard output is the table's, where frameworks print the compiler's words as well.

They do so where something does not compile, and raise them, too: the table has them from there.
"""

from __future__ import absolute_import, division, print_function

import contextlib
import os
import sys

# Never closed: what is imported meanwhile may keep it, and write to it later.
_nowhere = open(os.devnull, "w")  # noqa: SIM115


@contextlib.contextmanager
def output(loud=False):
    """Let nothing be printed in the block, unless it is to be `loud`."""
    before = sys.stdout
    if not loud:
        sys.stdout = _nowhere
    try:
        yield
    finally:
        sys.stdout = before
