"""What a waiting person sees on standard error: one line that changes, one that stays in a log."""

from __future__ import absolute_import, division, print_function

import os
import sys

from verify.core.text import text

CLEAR = "\r\033[K"

# Where each line goes as well, for the process that watches this one (watch.py).
watched = None


def begin():
    """Say in a log that it goes on; on a terminal, note() does."""
    if not sys.stderr.isatty():
        sys.stderr.write("verifying: about a minute ...\n")
        sys.stderr.flush()


def note(what):
    """Show on a terminal what is being done now, in place of what was shown before."""
    if watched is not None:
        os.write(watched, (text(what) + "\n").encode("utf-8"))
    if sys.stderr.isatty():
        sys.stderr.write(CLEAR + what + " ...")
        sys.stderr.flush()


def tell(what):
    """Say something that stays, in a log and on a terminal."""
    end()
    sys.stderr.write(what + "\n")
    sys.stderr.flush()


def end():
    """Take the line away."""
    if sys.stderr.isatty():
        sys.stderr.write(CLEAR)
        sys.stderr.flush()
