"""Text, whatever the Python: paths and settings may hold letters beyond ASCII."""

from __future__ import absolute_import, division, print_function, unicode_literals


def text(value):
    """Return a value as text; bytes, which is what Python 2 calls str, are taken for UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, type("")) else text(str(value))
