"""What Python 2 and 3 have in different ways: text, and files by a pattern."""

from __future__ import absolute_import, division, print_function

import glob
import os
import re

TEXT = type(b"".decode("ascii"))


def text(value):
    """Return a value as text. Bytes, which are Python 2's str, are decoded as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, TEXT) else text(str(value))


def native(value):
    """Return text as the type that streams take: Python 2's str, in UTF-8, or Python 3's."""
    # An exception's str() fails in Python 2 for letters beyond ASCII.
    if isinstance(value, Exception) and len(value.args) == 1:
        value = value.args[0]
    return text(value).encode("utf-8") if str is bytes else text(value)


def matching(folder, pattern):
    """Return the paths below a folder that fit a pattern such as `*/*.so`, sorted.

    In the folder's own name `[` stands for itself. Python 2 has no glob.escape.
    """
    escaped = re.sub(r"([*?[])", r"[\1]", folder)
    return sorted(glob.glob(os.path.join(escaped, pattern)))
