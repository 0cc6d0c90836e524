"""Text in Python 2 and 3: paths and settings may hold letters beyond ASCII."""

from __future__ import absolute_import, division, print_function, unicode_literals


def text(value):
    """Return a value as text. Bytes, which are Python 2's str, are decoded as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, type("")) else text(str(value))


def native(value):
    """Return text as the type that streams take: Python 2's str, in UTF-8, or Python 3's."""
    # An exception's str() fails in Python 2 for letters beyond ASCII.
    if isinstance(value, Exception) and len(value.args) == 1:
        value = value.args[0]
    return text(value).encode("utf-8") if str is bytes else text(value)
