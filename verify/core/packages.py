"""What this Python and this system have installed, and the commands that install more."""

from __future__ import absolute_import, division, print_function

import os
import pkgutil
import sys
import sysconfig

from verify.core.variables import quote

PY2 = sys.version_info[0] == 2
if not PY2:
    from importlib.util import find_spec


def is_installed(name):
    """Return whether a module of that name is installed, without running it."""
    return pkgutil.find_loader(name) is not None if PY2 else find_spec(name) is not None


def program(name):
    """Return the path of a program on PATH, or None."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = [os.path.join(folder, name) for folder in folders]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def pip_command(again=False):
    """Return the beginning of the command that installs packages for this Python.

    again: also those that are installed.
    """
    python = quote(sys.executable)
    if is_installed("pip"):
        command = "%s -m pip install%s" % (python, " --force-reinstall" * again)
    else:
        # As `uv venv` makes environments.
        command = "uv pip install --python %s%s" % (python, " --reinstall" * again)
    if _is_managed():
        # Whoever installed the packages of this Python has said so, too.
        command += " --break-system-packages"
    return command


def _is_managed():
    """Return whether pip and uv refuse to write into this Python (PEP 668)."""
    if sys.prefix != getattr(sys, "base_prefix", sys.prefix):
        return False
    return os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))


def system_command(debian, fedora, conda):
    """Return, after a colon, the command that installs a package; else its names."""
    if os.path.isdir(os.path.join(sys.prefix, "conda-meta")) and program("conda"):
        return ":\nconda install " + conda
    if program("apt"):
        return ":\napt install " + debian
    if program("dnf"):
        return ":\ndnf install " + fedora
    return " (Debian, Ubuntu: %s; Fedora: %s; conda: %s)" % (debian, fedora, conda)


def import_fix(name, text):
    """Return the fix for the message of a framework's import."""
    if "No closing quotation" in text:
        variable = name.upper() + "_FLAGS"
        return "%s has a quotation mark without its pair: put a backslash before it" % variable
    return supported_fix(name)


def supported_fix(name):
    """Return how to get versions of Python and NumPy that a framework supports."""
    if name == "theano" and sys.version_info < (3, 10):
        return "install a NumPy that Theano supports:\n%s 'numpy<1.23'" % pip_command()
    return (
        "install versions of Python and NumPy that %s supports (Theano 1.0.5: Python 3.9 and NumPy "
        "below 1.23)" % name
    )
