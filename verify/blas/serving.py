"""The library that really does the framework's matrix products."""

from __future__ import absolute_import, division, print_function

import fnmatch
import importlib
import os

from verify.blas import bindings, library
from verify.blas import operations as blas_operations
from verify.core.fixes import blas_link_flags, config_file, config_lines, ldflags_fix
from verify.core.framework import is_installed
from verify.core.report import failed, passed, skipped

NAME = "serving library"


def check_ldflags(context):
    """Check that the framework links a BLAS library (the baseline: that it does not)."""
    name = "blas.ldflags"
    value = str(context.framework.flag("blas.ldflags") or "").strip()
    if context.is_baseline:
        if not value:
            return passed(name, "empty, as the baseline has it")
        return failed(
            name,
            "this is not the baseline: %r" % value,
            "take blas.ldflags out of %s and of %s"
            % (context.framework.flags_variable, config_file(context)),
        )
    if value:
        return passed(name, value)
    return failed(name, "empty: matrix products go through NumPy", ldflags_fix(context))


def find(context):
    """Return [Served] of the framework's compiled modules, or of NumPy where they have none."""
    for dtype in blas_operations.DTYPES:
        blas_operations.compiled(context, blas_operations.OPERATIONS[0], dtype)
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    found = [served for served in bindings.servers_of(modules) if not served.own]
    return found or [
        served for served in bindings.servers_of(bindings.modules_of("numpy")) if not served.own
    ]


def check(context):
    """Check that the calls end in the library that is meant, and tell what it is."""
    found = find(context)
    if not found:
        return failed(
            NAME,
            "neither the framework's modules nor NumPy's call any BLAS library",
            ldflags_fix(context),
        )
    paths = sorted({served.library for served in found})
    libraries = library.merged([library.identify(path) for path in paths])
    context.serving = libraries[0]
    through_numpy = not _is_framework(context, found)
    detail = " and ".join(library.describe(item) for item in libraries)
    if through_numpy:
        detail += ", through NumPy"
    detail += _others(context)
    if len(libraries) > 1:
        return failed(NAME, "more than one: " + detail, _fix(context))
    if context.expectation:
        return _as_expected(context, libraries[0], through_numpy, detail)
    if libraries[0].name == library.UNKNOWN:
        return failed(
            NAME, detail + ": no sign of a library made for this processor", _fix(context)
        )
    if through_numpy:
        return failed(NAME, detail, ldflags_fix(context))
    return passed(NAME, detail)


def check_numba(context):
    """Tell which library PyTensor's default linker, numba, would call: SciPy's."""
    linker = str(context.framework.flag("linker"))
    if linker not in ("auto", "numba"):
        return skipped("numba", "linker=%s: numba is not used" % linker)
    importlib.import_module("scipy.linalg.cython_blas")
    found = bindings.servers_of(bindings.modules_of("scipy"))
    paths = sorted({served.library for served in found if not served.own})
    if not is_installed("numba") or not paths:
        return skipped("numba", "numba or SciPy's BLAS is not there")
    described = " and ".join(library.describe(library.identify(path)) for path in paths)
    return passed("numba", "linker=%s runs numba, which calls SciPy's %s" % (linker, described))


def _is_framework(context, found):
    folder = os.path.realpath(context.framework.flag("compiledir"))
    return found[0].module.startswith(folder)


def _as_expected(context, serving, through_numpy, detail):
    blas = context.expectation["blas"]
    if blas is None:
        if through_numpy:
            return passed(NAME, detail)
        return failed(NAME, "this is not the baseline: " + detail, _fix(context))
    base = os.path.basename(serving.path)
    right_file = any(fnmatch.fnmatch(base, pattern) for pattern in blas["libraries"])
    if right_file and serving.name == blas["name"] and not through_numpy:
        return passed(NAME, detail)
    wanted = "%s (%s)" % (blas["name"], ", ".join(blas["libraries"]))
    return failed(NAME, "expected %s; found %s" % (wanted, detail), _fix(context))


def _others(context):
    words = []
    for package in ("numpy", "scipy"):
        paths = {
            served.library
            for served in bindings.servers_of(bindings.modules_of(package))
            if not served.own and served.library != context.serving.path
        }
        words += [
            "%s uses %s" % (package, library.describe(library.identify(path)))
            for path in sorted(paths)
        ]
    return "; beside it " + ", ".join(words) if words else ""


def _fix(context):
    preload = os.environ.get("LD_PRELOAD")
    if preload:
        return "LD_PRELOAD comes before every other library: take %s out of it" % preload
    search = os.environ.get("LD_LIBRARY_PATH")
    if search and context.serving and _below(context.serving.path, search):
        return "LD_LIBRARY_PATH leads to %s: take that folder out of it" % context.serving.path
    if context.has_ldflags and not context.expectation:
        return "the flags %r lead to it; put into %s:\n%s" % (
            context.framework.flag("blas.ldflags"),
            config_file(context),
            config_lines("blas", "ldflags", blas_link_flags() or "-lopenblas"),
        )
    return ldflags_fix(context)


def _below(path, folders):
    return any(
        os.path.dirname(path) == os.path.realpath(folder)
        for folder in folders.split(os.pathsep)
        if folder
    )
