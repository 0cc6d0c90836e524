"""Causes that lie in Python, or in a package's version: a table of causes.py calls these.

Each function takes the match of its row and the Facts, and returns a Cause, or None where this
Python and its packages do not agree with it.
"""

from __future__ import absolute_import, division, print_function

import os
import re
import sys

from verify.core import pythons
from verify.core.cause import Cause
from verify.core.text import matching

# Modules whose distribution has another name. What is not in the list has its module's name.
DISTRIBUTIONS = {
    "cons": "logical-unification",
    "kanren": "miniKanren",
    "pkg_resources": "setuptools",
    "sklearn": "scikit-learn",
    "unification": "logical-unification",
    "yaml": "PyYAML",
}


def missing_module(match, facts):
    """A module that is not installed, is for another Python, or that Python no longer has."""
    name = match.group(1)
    top = name.split(".")[0]
    removed = pythons.REMOVED.get(top)
    if removed and facts.python >= removed:
        return old_framework("Python %s has no module %s" % (pythons.text(removed), top), facts)
    if not facts.is_installed(top):
        distribution = DISTRIBUTIONS.get(top, top)
        return Cause(
            "the package %s is missing" % distribution, "%s %s" % (facts.pip(), distribution)
        )
    if top == facts.framework:
        return None
    others = _of_other_pythons(top, name)
    if others:
        return Cause(
            "%s is built for another Python: it has %s" % (top, os.path.basename(others[0])),
            "install it for this one:\n%s %s"
            % (facts.pip(again=True), DISTRIBUTIONS.get(top, top)),
        )
    return _too_new(top, facts)


def _of_other_pythons(top, name):
    """Return the files of a package that are a module for other Pythons than this one."""
    if top == name:
        return []
    inner = os.path.join(*name.split(".")) + ".*.so"
    found = [path for folder in sys.path for path in matching(folder, inner)]
    tag = "-%d%d" % sys.version_info[:2]
    return [path for path in found if tag not in os.path.basename(path)]


def old_name(match, facts):
    """A name that a module no longer has, or does not have yet."""
    module = match.groupdict().get("module") or ""
    top = module.split(".")[0]
    if "partially initialized" in match.group(0):
        return None
    if top in pythons.STANDARD:
        what = "Python %s has no %s in %s" % (
            pythons.text(facts.python),
            match.group("name"),
            module,
        )
        return old_framework(what, facts)
    return _too_new(top, facts)


def shadowed(match, facts):
    """A file of the user's that has the name of a package."""
    path, name = match.group("path"), match.group("module").split(".")[0]
    if "site-packages" in path or "dist-packages" in path:
        return None
    return Cause(
        "%s hides the package %s" % (path, name), "rename it, or take its folder off Python's path"
    )


def old_framework(what, facts):
    """The framework is for an earlier Python."""
    support = pythons.support_of(facts.framework, facts.version)
    if not support or facts.python <= support.python:
        return None
    name = "%s %s" % (facts.framework, facts.version or "")
    newest = pythons.NEWEST.get(facts.framework)
    newer = newest and pythons.support_of(facts.framework, newest)
    if newer and facts.python <= newer.python:
        fix = "%s %s==%s" % (facts.pip(), facts.framework, newest)
    else:
        fix = "take Python %s, or PyTensor, its successor:\n%s pytensor" % (
            pythons.text(support.python),
            facts.pip(),
        )
    return Cause("%s: %s is for Python up to %s" % (what, name, pythons.text(support.python)), fix)


def old_c_code(match, facts):
    """C code that uses what later Pythons no longer have."""
    what = "C code for an earlier Python"
    return old_framework(what, facts)


def _too_new(top, facts):
    """NumPy is too new for the framework; None if it is not, or if that is not known."""
    support = pythons.support_of(facts.framework, facts.version)
    found = facts.version_of("numpy")
    if top != "numpy" or not (support and found and pythons.number(found) >= support.numpy):
        return None
    what = "NumPy %s is too new for %s %s" % (found, facts.framework, facts.version)
    if facts.python > support.python:
        return old_framework(what, facts)
    return Cause(what, "%s 'numpy<%s'" % (facts.pip(), pythons.text(support.numpy)))


def other_numpy(match, facts):
    """A package was compiled for another NumPy than the installed one."""
    package = _last_package(facts.frames) or "the package that is imported last"
    return Cause(
        "%s was compiled for another NumPy than %s" % (package, facts.version_of("numpy")),
        "install it for this NumPy:\n%s --no-deps %s" % (facts.pip(again=True), package)
        if " " not in package
        else "install it again, for this NumPy",
    )


def _last_package(text):
    """Return the last package, other than NumPy, that a traceback leads through."""
    names = re.findall(r"(?:site|dist)-packages/([A-Za-z0-9_]+)", text)
    return next((name for name in reversed(names) if name != "numpy"), None)


def other_syntax(match, facts):
    """A file in the syntax of another Python."""
    path = re.search(r"([^\s(]+\.py), line \d+$", match.string)
    support = pythons.support_of(facts.framework, facts.version)
    if support and facts.python > support.python:
        return old_framework("its source is not for Python %s" % pythons.text(facts.python), facts)
    if not path:
        return None
    package = _last_package(facts.frames + path.group(1)) or os.path.basename(path.group(1))
    what = "%s is written for another Python than %s" % (package, pythons.text(facts.python))
    return Cause(what, "install a version of it for this one:\n%s %s" % (facts.pip(True), package))
