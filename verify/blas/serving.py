"""Check which library the framework's matrix products really call."""

from __future__ import absolute_import, division, print_function

import fnmatch
import importlib
import os
import shlex

from verify.blas import bindings, library
from verify.blas import operations as blas_operations
from verify.core import native
from verify.core.fixes import compiler_fix, ldflags_fix, library_fix, numpy_fix
from verify.core.packages import is_installed
from verify.core.report import failed, passed
from verify.core.variables import loader_fix

NAME = "serving library"


def check_ldflags(context):
    """Check that the framework links a BLAS library (the baseline: that it does not)."""
    name = "blas.ldflags"
    value = str(context.framework.flag("blas.ldflags") or "").strip()
    if context.is_baseline:
        if not value:
            return passed(name, "empty, as expected of the baseline")
        return failed(name, "this is not the baseline: %r" % value, ldflags_fix(context))
    if not value:
        return failed(name, "empty: matrix products go through NumPy", ldflags_fix(context))
    try:
        message = native.link(context.framework.flag("cxx"), value, context.folder)
    except native.NoCompilerError as error:
        return failed(name, "%s: %s" % (value, error), compiler_fix(context))
    if message:
        return failed(name, "%s does not link: %s" % (value, message), ldflags_fix(context))
    # The linker finds the library in another folder. The serving library is checked by itself.
    missing = [word[2:] for word in shlex.split(value) if word.startswith("-L")]
    missing = [folder for folder in missing if folder and not os.path.isdir(folder)]
    return passed(name, value + _ignored(missing))


def _ignored(folders):
    if not folders:
        return ""
    verb = "which does not exist" if len(folders) == 1 else "which do not exist"
    return "; the linker ignores %s, %s" % (", ".join(folders), verb)


def find(context):
    """Return the Bindings of the framework's compiled modules, or else those of NumPy."""
    for dtype in blas_operations.DTYPES:
        blas_operations.compiled(context, blas_operations.OPERATIONS[0], dtype)
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    return bindings.bindings_of(modules) or bindings.bindings_of(bindings.modules_of("numpy"))


def _libraries(package):
    calls = bindings.bindings_of(bindings.modules_of(package))
    return sorted({binding.library for binding in calls})


def check(context):
    """Check that the calls end in the expected library; set context.serving to it."""
    calls = find(context)
    if not calls:
        return failed(
            NAME,
            "neither the framework's modules nor NumPy's call any BLAS library",
            ldflags_fix(context),
        )
    paths = sorted({binding.library for binding in calls})
    libraries = library.merged([library.identify(path) for path in paths])
    context.serving = libraries[0]
    through_numpy = not _is_framework(context, calls[0].module)
    detail = " and ".join(library.describe(item) for item in libraries)
    if through_numpy:
        detail += ", through NumPy"
    detail += _others(context)
    if len(libraries) > 1:
        fix = loader_fix(paths) or library_fix(context)
        return failed(NAME, "more than one: " + detail, fix)
    if context.expectation:
        return _as_expected(context, libraries[0], through_numpy, detail)
    if libraries[0].name == library.UNKNOWN:
        detail += ": not known as a library with fast kernels"
        return failed(NAME, detail, library_fix(context))
    if through_numpy:
        return failed(NAME, detail, ldflags_fix(context))
    return passed(NAME, detail)


def check_numpy(context):
    """Check that NumPy calls a fast library, where there is no framework; set context.serving."""
    calls = bindings.bindings_of(bindings.modules_of("numpy"))
    if not calls:
        return failed(NAME, "NumPy calls no BLAS library", numpy_fix())
    paths = sorted({binding.library for binding in calls})
    libraries = library.merged([library.identify(path) for path in paths])
    context.serving = libraries[0]
    for name in ("scipy.linalg", "scipy.linalg.cython_blas"):
        if is_installed("scipy"):
            importlib.import_module(name)
    detail = " and ".join(library.describe(item) for item in libraries) + _others(context)
    if libraries[0].name == library.UNKNOWN:
        detail += ": not known as a library with fast kernels"
        return failed(NAME, detail, library_fix(context))
    return passed(NAME, detail)


def _is_framework(context, module):
    return module.startswith(os.path.realpath(context.framework.flag("compiledir")))


def _as_expected(context, serving, through_numpy, detail):
    blas = context.expectation["blas"]
    if blas is None:
        if through_numpy:
            return passed(NAME, detail)
        return failed(NAME, "this is not the baseline: " + detail, library_fix(context))
    base = os.path.basename(serving.path)
    is_file = any(fnmatch.fnmatch(base, pattern) for pattern in blas["libraries"])
    if is_file and serving.name == blas["name"] and not through_numpy:
        return passed(NAME, detail)
    expected = "%s (%s)" % (blas["name"], ", ".join(blas["libraries"]))
    return failed(NAME, "expected %s; found %s" % (expected, detail), library_fix(context))


def _others(context):
    """Return which other libraries NumPy and SciPy call, as the end of a detail."""
    return "".join(
        "; %s uses %s" % (package, library.describe(library.identify(path)))
        for package in ("numpy", "scipy")
        for path in _libraries(package)
        if path != context.serving.path
    )
