"""Fixes of environment variables, as the command that a shell takes."""

from __future__ import absolute_import, division, print_function

import importlib
import os
import re

# Python 2 has it elsewhere.
quote = importlib.import_module("pipes" if str is bytes else "shlex").quote


def loader_fix(paths):
    """Return how to keep the loader from libraries; None if no variable of its leads to one.

    paths: of the libraries, without symbolic links.
    """
    for variable in ("LD_PRELOAD", "LD_LIBRARY_PATH"):
        for path in paths:
            fix = without(variable, path, os.path.dirname(path))
            if fix:
                return "%s leads to %s:\n%s" % (variable, path, fix)
    return None


def without(variable, *unwanted, **options):
    """Return the command that takes paths out of a variable's list; None if it has none of them.

    environ: the variables; by default those of this process.
    """
    environ = options.get("environ", os.environ)
    # A blank is a part of a path everywhere else.
    separators = "[ :]" if variable == "LD_PRELOAD" else ":"
    parts = [part for part in re.split(separators, environ.get(variable, "")) if part]
    kept = [part for part in parts if os.path.realpath(part) not in unwanted]
    if kept == parts:
        return None
    return "export %s=%s" % (variable, quote(":".join(kept))) if kept else "unset " + variable
