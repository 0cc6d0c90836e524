"""Which Python and which NumPy each release of a framework runs on, as far as it is known."""

from __future__ import absolute_import, division, print_function

import collections
import re

# framework: the name of its module; release: the first one that this is true of; python: the newest
# that it runs on; numpy: the first version that is too new, or None.
Support = collections.namedtuple("Support", "framework release python numpy")
# Theano-PyMC is the module `theano`, too. The last line that fits counts. PyTensor says by itself
# what it needs when pip installs it.
SUPPORT = (
    Support("theano", (0,), (3, 6), (1, 17)),
    Support("theano", (1, 0), (3, 9), (1, 23)),
    Support("aesara", (2,), (3, 11), (1, 25)),
)
NEWEST = {"theano": "1.0.5"}
# What later Pythons no longer have: module: the first Python without it.
REMOVED = {
    "asynchat": (3, 12),
    "asyncore": (3, 12),
    "cgi": (3, 13),
    "crypt": (3, 13),
    "distutils": (3, 12),
    "formatter": (3, 10),
    "imp": (3, 12),
    "parser": (3, 10),
    "pipes": (3, 13),
    "smtpd": (3, 12),
    "symbol": (3, 10),
}
# Modules of Python whose names have changed between versions.
STANDARD = ("ast", "collections", "configparser", "fractions", "gettext", "inspect", "pkgutil")
STANDARD += ("random", "threading", "time", "types", "typing", "unittest")


def support_of(framework, version):
    """Return the Support of a framework's version, None if it is not known."""
    fitting = [
        row
        for row in SUPPORT
        if row.framework == framework and number(version or "0") >= row.release
    ]
    return fitting[-1] if fitting else None


def number(version):
    """Return the numbers of a version as a tuple."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def text(numbers):
    """Return a tuple of numbers as a version."""
    return ".".join(map(str, numbers))
