"""Read the compile folder while other processes remove what is in it.

Theano lists each folder below it, and ends the program with "No such file or directory" where
another process removed one a moment before: one that another module is equal to, or an empty one.
"""

import errno
import functools

from theano.gof import cmodule

# Each time, another process has removed a folder between two system calls.
TIMES = 100


def _again(method):
    """Return a method that is called again when a file is gone; what is known is not read twice."""

    @functools.wraps(method)
    def call(self, *positional, **named):
        for _ in range(TIMES - 1):
            try:
                return method(self, *positional, **named)
            except EnvironmentError as error:
                if error.errno != errno.ENOENT:
                    raise
        return method(self, *positional, **named)

    return call


def fix():
    """Make Theano read its compile folder through this module from now on."""
    cache = cmodule.ModuleCache
    cache.refresh, cache.clear_unversioned = _again(cache.refresh), _again(cache.clear_unversioned)
