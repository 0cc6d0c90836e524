"""Text in Python 2 and 3: paths and settings may hold letters beyond ASCII."""

from __future__ import absolute_import, division, print_function, unicode_literals


def text(value):
    """Return a value as text. Bytes, which are Python 2's str, are decoded as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, type("")) else text(str(value))
