"""Check that one BLAS library serves the framework, NumPy and SciPy."""

from __future__ import absolute_import, division, print_function

import collections
import fnmatch
import importlib
import os
import sys

from verify.blas import bindings, library
from verify.blas import operations as blas_operations
from verify.core import repair, variables
from verify.core.fixes import ldflags_fix
from verify.core.report import failed, passed, skipped

NAME = "one BLAS"
# Imported so that the libraries that their matrix products call are loaded.
CALLERS = ("numpy.linalg", "scipy.linalg", "scipy.linalg.cython_blas", "scipy.linalg.cython_lapack")

# In place of a caller's name.
NOBODY = "called by nobody"


def check(context):
    """Check that there is one BLAS library in the process, where the expectation says so.

    One that nothing calls counts, too: its threads and memory are there. Elsewhere several are no
    fault, and the detail names those that are called.
    """
    callers = callers_of_libraries(context)
    if not callers:
        return skipped(NAME, "nothing calls a BLAS product")
    expected = context.expectation and context.expectation["blas"]
    if expected and expected.get("alone"):
        for path in uncalled(context, callers):
            callers[path] = [NOBODY]
    paths = sorted({library.behind(path) for path in callers})
    libraries = library.merged([library.identify(path) for path in paths])
    detail = "; ".join(
        "%s: %s" % (" and ".join(names), library.describe(library.identify(path)))
        for path, names in sorted(callers.items(), key=lambda item: item[1])
    )
    if len(libraries) == 1:
        return passed(NAME, detail)
    detail = "%d libraries, each with threads of its own: %s" % (len(libraries), detail)
    if expected and expected.get("alone"):
        return failed(NAME, detail, _fix(context, callers, expected))
    return passed(NAME, detail)


def callers_of_libraries(context):
    """Return {path of a library: [name of the framework, or of a package, that calls it]}."""
    for name in CALLERS:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    for dtype in blas_operations.DTYPES:
        blas_operations.compiled(context, blas_operations.OPERATIONS[0], dtype)
    compiled = os.path.realpath(context.framework.flag("compiledir")) + os.sep
    names = collections.OrderedDict()
    for path in bindings.mapped_files():
        name = context.framework.name if path.startswith(compiled) else _package(path)
        if name is not None:
            names[path] = name
    callers = collections.defaultdict(set)
    for binding in bindings.bindings_of(names):
        callers[binding.library].add(names[binding.module])
    return {path: sorted(callers[path]) for path in callers}


def uncalled(context, callers):
    """Return the mapped BLAS libraries that are not behind those of `callers`."""
    if context.framework.name == "pytensor" and context.framework.runs_numba:
        # As programs use it, with the libraries that it loads.
        importlib.import_module("numba")
    called = sorted({library.behind(path) for path in callers})
    libraries = library.merged([library.identify(path) for path in called])
    compiled = os.path.realpath(context.framework.flag("compiledir")) + os.sep
    paths = [path for path in bindings.mapped_files() if not path.startswith(compiled)]
    paths = [path for path in paths if bindings.defining(path)]
    paths = [path for path in paths if library.behind(path) not in called]
    # The parts of one MKL add nothing.
    return [
        path
        for path in paths
        if len(library.merged(libraries + [library.identify(path)])) > len(libraries)
    ]


def _package(path):
    parts = path.split(os.sep)
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-2]:
            name = parts[parts.index(folder) + 1]
            # The libraries in a wheel call each other.
            return None if name.endswith(".libs") or ".libs" in parts else name
    return None


def _fix(context, callers, expected):
    behind = {library.behind(path) for path in callers if _is_expected(path, expected)}
    paths = [path for path in callers if library.behind(path) not in behind]
    preloaded = variables.loader_fix(paths)
    if preloaded:
        return preloaded
    others = sorted({name for path in paths for name in callers[path]})
    if others == [NOBODY]:
        return repair.fix(context.expectation)
    if context.framework.name in others or not others:
        return ldflags_fix(context)
    return packages_fix(context, [name for name in others if name != NOBODY])


def packages_fix(context, names):
    """Return how to keep packages from outside of an environment, which call another BLAS."""
    # Folders of site-packages, as Python's path names them.
    modules = [sys.modules[name] for name in names if name in sys.modules]
    folders = [os.path.dirname(os.path.dirname(module.__file__)) for module in modules]
    folders = [os.path.realpath(folder) for folder in folders]
    fix = variables.without("PYTHONPATH", *folders) or repair.command(context.expectation)
    return "not from the lock: %s, with a BLAS of its own:\n%s" % (" and ".join(names), fix)


def _is_expected(path, expected):
    # The parts of MKL have other file names than the library that is linked.
    if expected["name"] == "mkl" and library.identify(path).name == "mkl":
        return True
    return any(fnmatch.fnmatch(os.path.basename(path), name) for name in expected["libraries"])
