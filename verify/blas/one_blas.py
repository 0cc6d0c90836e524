"""Which BLAS libraries are mapped, and who calls which."""

from __future__ import absolute_import, division, print_function

import collections
import fnmatch
import importlib
import os

from verify.blas import bindings, library
from verify.blas import operations as blas_operations
from verify.core.fixes import ldflags_fix
from verify.core.report import failed, passed, skipped

NAME = "one BLAS"
# What calls a product in SciPy; imported so that its library is mapped as a program would have it.
CALLERS = ("numpy.linalg", "scipy.linalg", "scipy.linalg.cython_blas")


def check(context):
    """Check that one BLAS serves the framework, NumPy and SciPy, where the builder says so.

    Elsewhere several are no fault, and the check tells which they are.
    """
    callers = who_calls_which(context)
    if not callers:
        return skipped(NAME, "nobody calls a BLAS product")
    libraries = library.merged([library.identify(path) for path in sorted(callers)])
    detail = "; ".join(
        "%s: %s" % (" and ".join(names), library.describe(library.identify(path)))
        for path, names in sorted(callers.items(), key=lambda item: item[1])
    )
    if len(libraries) == 1:
        return passed(NAME, detail)
    detail = "%d libraries, each with threads of its own: %s" % (len(libraries), detail)
    wanted = context.expectation and context.expectation["blas"]
    if wanted and wanted.get("alone"):
        return failed(NAME, detail, _fix(context, callers, wanted))
    return passed(NAME, detail)


def who_calls_which(context):
    """Return {library: [the framework, NumPy, SciPy, other packages]} of this process."""
    for name in CALLERS:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    for dtype in blas_operations.DTYPES:
        blas_operations.compiled(context, blas_operations.OPERATIONS[0], dtype)
    compiled = os.path.realpath(context.framework.flag("compiledir")) + os.sep
    found = collections.OrderedDict()
    for path in bindings.mapped_files():
        name = context.framework.name if path.startswith(compiled) else _package(path)
        if name is None:
            continue
        for served in bindings.servers_of([path]):
            names = found.setdefault(served.library, [])
            if not served.own and name not in names:
                names.append(name)
    return {path: sorted(names) for path, names in found.items() if names}


def _package(path):
    parts = path.split(os.sep)
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-2]:
            name = parts[parts.index(folder) + 1]
            # The libraries that a wheel brings call each other.
            return None if name.endswith(".libs") or ".libs" in parts else name
    return None


def _fix(context, callers, wanted):
    strangers = sorted(
        name for path, names in callers.items() if not _is_meant(path, wanted) for name in names
    )
    if context.framework.name in strangers or not strangers:
        return ldflags_fix(context)
    return (
        "%s came from elsewhere than the lock says (pip install brings its own BLAS): build the "
        "environment again, and look at PYTHONPATH" % " and ".join(strangers)
    )


def _is_meant(path, wanted):
    # A part of MKL is MKL, whatever its file is called.
    if wanted["name"] == "mkl" and library.identify(path).name == "mkl":
        return True
    return any(fnmatch.fnmatch(os.path.basename(path), name) for name in wanted["libraries"])
