"""The environment variables that change what a Python program does: one table for all programs.

Each variable is dropped, honoured, or honoured and named. The suite and the builder read this
table. The script `invoke` runs it by its path, so it imports the standard library only.
"""

from __future__ import absolute_import, division, print_function

import collections
import fnmatch
import glob
import importlib
import os
import re

DROPPED, NAMED, HONOURED = "dropped", "named", "honoured"

# patterns: the names, as fnmatch has them, with blanks between; values: those that the rule is for,
# in lower case and as fnmatch has them, None for all; reason: what each does, as a sentence's end.
Rule = collections.namedtuple("Rule", "patterns values action reason")

_SLOW_NUMBA = "makes numba's programs many times slower"
_SLOW_MEMORY = "slows every allocation of memory"
_KERNELS = "OPENBLAS_CORETYPE BLIS_ARCH_TYPE MKL_DEBUG_CPU_TYPE MKL_ENABLE_INSTRUCTIONS MKL_CBWR"
# The first rule that fits counts.
RULES = (
    Rule(
        "PYTHONHOME PYTHONPLATLIBDIR PYTHONEXECUTABLE", None, DROPPED, "is meant for another Python"
    ),
    # Of another environment that is active: uv installs into the folder that they name.
    Rule("VIRTUAL_ENV CONDA_DEFAULT_ENV", None, DROPPED, "names another environment"),
    Rule(
        "PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON",
        None,
        DROPPED,
        "would have pip install into another folder",
    ),
    Rule("PIP_DRY_RUN", None, DROPPED, "keeps pip from installing"),
    Rule("PIP_REQUIRE_VIRTUALENV", None, DROPPED, "keeps pip from working in an environment"),
    Rule("PIP_*", None, HONOURED, ""),
    Rule("PYTHONPATH", None, NAMED, "puts its folders before the environment's packages"),
    Rule("PYTHONOPTIMIZE", ("", "0"), HONOURED, ""),
    Rule("PYTHONOPTIMIZE", None, NAMED, "leaves out the checks and texts that packages rely on"),
    Rule("PYTHONWARNINGS", ("*error*",), NAMED, "makes errors of warnings"),
    Rule("PYTHONMALLOC", ("*debug*", "malloc"), NAMED, _SLOW_MEMORY),
    Rule("PYTHONDEVMODE", ("?*",), NAMED, "turns on slow checks of Python's memory"),
    Rule("PYTHONTRACEMALLOC", ("?*",), NAMED, _SLOW_MEMORY),
    Rule("PYTHONSAFEPATH", ("?*",), NAMED, "keeps the folder of a script off Python's path"),
    Rule("PYTHON_GIL", ("?*",), NAMED, "changes how Python runs threads"),
    Rule("PYTHON*", None, HONOURED, ""),
    Rule("LD_PRELOAD", ("?*",), NAMED, "loads its libraries before the environment's"),
    Rule("LD_LIBRARY_PATH", ("?*",), NAMED, "has the loader search its folders first"),
    Rule("LD_AUDIT", ("?*",), NAMED, "has a library decide what the loader takes"),
    Rule(
        "GCC_EXEC_PREFIX COMPILER_PATH", ("?*",), NAMED, "leads the compiler to another one's files"
    ),
    Rule("CPATH", ("?*",), NAMED, "has the compiler search its folders first"),
    Rule(
        "C_INCLUDE_PATH CPLUS_INCLUDE_PATH", ("?*",), NAMED, "has the compiler search its folders"
    ),
    Rule("LIBRARY_PATH", ("?*",), NAMED, "has the linker search its folders"),
    Rule("NUMBA_DISABLE_JIT", ("", "0"), HONOURED, ""),
    Rule("NUMBA_DISABLE_JIT", None, NAMED, _SLOW_NUMBA),
    Rule("NUMBA_OPT", ("0", "1"), NAMED, _SLOW_NUMBA),
    Rule("NUMBA_LOOP_VECTORIZE", ("0",), NAMED, _SLOW_NUMBA),
    Rule("NUMBA_BOUNDSCHECK", ("1",), NAMED, _SLOW_NUMBA),
    Rule("NUMBA_DEBUG*", ("[1-9]*",), NAMED, _SLOW_NUMBA),
    Rule("NUMBA_CPU_*", ("?*",), NAMED, "has numba compile for another processor"),
    Rule("NUMBA_*", None, HONOURED, ""),
    Rule(_KERNELS, ("?*",), NAMED, "selects the kernels of the BLAS library"),
    Rule("MKL_THREADING_LAYER", ("seq*",), NAMED, "has MKL run on one thread"),
    Rule("MKL_VERBOSE", ("[1-9]*",), NAMED, "has MKL print a line for each call"),
    Rule("KMP_DUPLICATE_LIB_OK", ("1", "t*", "y*"), NAMED, "hides that OpenMP is loaded twice"),
    Rule("OMP_THREAD_LIMIT", ("?*",), NAMED, "limits the threads of OpenMP"),
    # Numbers of threads and their places: the check `threads` compares them with what runs.
    Rule("OMP_* MKL_* KMP_* OPENBLAS_* GOTO_* BLIS_*", None, HONOURED, ""),
)

# Variables with folders, and the environment's folders whose files theirs come before.
HIDING = {
    "PYTHONPATH": ("lib/python*/site-packages", "lib/python*/dist-packages"),
    "LD_LIBRARY_PATH": ("lib",),
}
UNIMPORTANT = {"__pycache__", "bin", "tests", "test", "docs", "setup", "conftest", "README.txt"}
# Names in a sentence, at most.
SHOWN = 3


def rule_of(name, value):
    """Return the Rule of a variable with this value, None for one that is not in the table."""
    for rule in RULES:
        if _fits(rule.patterns.split(), name) and _fits(rule.values, value.lower()):
            return rule
    return None


def _fits(patterns, text):
    return patterns is None or any(fnmatch.fnmatchcase(text, each) for each in patterns)


def dropped():
    """Return the names of the variables that no program of an environment gets, in order."""
    return [name for rule in RULES if rule.action == DROPPED for name in rule.patterns.split()]


def program(environ):
    """Return the variables of a program of an environment: all but the dropped ones."""
    return {name: value for name, value in environ.items() if name not in dropped()}


def pip(environ):
    """Return the variables of a pip that installs where the builder says.

    Its configuration file may say otherwise, and a variable wins over it.
    """
    return dict(program(environ), PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0")


def remarks(environ, prefix):
    """Return a sentence, `NAME=VALUE reason`, for each variable that is named, sorted.

    prefix: the environment's folder. A variable with folders is named where one of them hides a
    file or a package of the environment.
    """
    found = []
    for name in sorted(environ):
        rule = rule_of(name, environ[name])
        if not rule or rule.action != NAMED or not environ[name]:
            continue
        sentence = "%s=%s %s" % (name, environ[name], rule.reason)
        if name in HIDING:
            hidden = hides(environ, name, prefix)
            sentence += ", and hides its %s" % ", ".join(hidden[:SHOWN])
            found += [sentence] if hidden else []
        else:
            found.append(sentence)
    return found


def hides(environ, name, prefix):
    """Return which files or packages of an environment the folders of a variable have too."""
    patterns = HIDING[name]
    own = set()
    for folder in [each for pattern in patterns for each in _matching(prefix, pattern)]:
        own.update(_names(folder))
    inside = os.path.realpath(prefix) + os.sep
    others = set()
    for folder in folders(environ, name):
        if not (os.path.realpath(folder) + os.sep).startswith(inside):
            others.update(_names(folder))
    return sorted((own & others) - UNIMPORTANT)


def _matching(prefix, pattern):
    # The prefix's `[` stands for itself. Python 2 has no glob.escape.
    return glob.glob(os.path.join(re.sub(r"([*?[])", r"[\1]", prefix), pattern))


def _names(folder):
    """Return the names of the packages, modules and libraries in a folder."""
    try:
        names = os.listdir(folder)
    except EnvironmentError:
        return set()
    stems = {name[: -len(".py")] if name.endswith(".py") else name for name in names}
    return {name for name in stems if "-" not in name and not name.endswith(".pth")}


def suspects(environ):
    """Return the names of the variables that may keep a program from running, sorted."""
    rules = {name: rule_of(name, environ[name]) for name in environ}
    return sorted(n for n in rules if rules[n] and rules[n].action != HONOURED and environ[n])


def folders(environ, name):
    """Return the folders of a variable that is a list of them."""
    return [part for part in environ.get(name, "").split(os.pathsep) if part]


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
