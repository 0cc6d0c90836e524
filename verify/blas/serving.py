"""Check which library matrix products really call, and that it is the only one."""

from __future__ import absolute_import, division, print_function

import collections
import fnmatch
import importlib
import os
import shlex
import sys

from verify.blas import bindings, library, speed
from verify.blas import operations as blas_operations
from verify.core import process
from verify.core.fixes import compiler_fix, ldflags_fix, library_fix, numpy_fix, repair_fix
from verify.core.packages import is_installed
from verify.core.report import failed, passed, skipped
from verify.core.surroundings import loader_fix, without

NAME = "serving library"
ONE_BLAS = "one BLAS"
# Imported so that the libraries that their matrix products call are loaded.
CALLERS = ("numpy.linalg", "scipy.linalg", "scipy.linalg.cython_blas", "scipy.linalg.cython_lapack")
# In place of a caller's name.
NOBODY = "called by nobody"


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
        message = process.link(context.framework.flag("cxx"), value, context.folder)
    except process.NoCompilerError as error:
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
    libraries = library.libraries_of(paths)
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
    libraries = library.libraries_of(binding.library for binding in calls)
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


def check_one_blas(context):
    """Check that there is one BLAS library in the process, where the expectation says so.

    One that nothing calls counts, too: its threads and memory are there. Elsewhere several are no
    fault, and the detail names those that are called.
    """
    callers = callers_of_libraries(context)
    if not callers:
        return skipped(ONE_BLAS, "nothing calls a BLAS product")
    expected = context.expectation and context.expectation["blas"]
    if expected and expected.get("alone"):
        for path in uncalled(context, callers):
            callers[path] = [NOBODY]
    libraries = library.libraries_of(library.behind(path) for path in callers)
    detail = "; ".join(
        "%s: %s" % (" and ".join(names), library.describe(library.identify(path)))
        for path, names in sorted(callers.items(), key=lambda item: item[1])
    )
    if len(libraries) == 1:
        return passed(ONE_BLAS, detail)
    detail = "%d libraries, each with threads of its own: %s" % (len(libraries), detail)
    if expected and expected.get("alone"):
        context.second_blas_fix = _one_blas_fix(context, callers, expected)
        return failed(ONE_BLAS, detail, context.second_blas_fix)
    return passed(ONE_BLAS, detail)


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
    if context.framework.runs_numba:
        # As programs use it, with the libraries that it loads when it compiles and runs.
        speed.by_numba(context, blas_operations.DTYPES[0])
    called = {library.behind(path) for path in callers}
    libraries = library.libraries_of(called)
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


def _one_blas_fix(context, callers, expected):
    behind = {library.behind(path) for path in callers if _is_expected(path, expected)}
    paths = [path for path in callers if library.behind(path) not in behind]
    preloaded = loader_fix(paths)
    if preloaded:
        return preloaded
    others = sorted({name for path in paths for name in callers[path]})
    if others == [NOBODY]:
        return repair_fix(context.expectation)
    if context.framework.name in others or not others:
        return ldflags_fix(context)
    return packages_fix(context, [name for name in others if name != NOBODY])


def packages_fix(context, names):
    """Return how to keep packages from outside of an environment, which call another BLAS."""
    # Folders of site-packages, as Python's path names them.
    modules = [sys.modules[name] for name in names if name in sys.modules]
    folders = [os.path.dirname(os.path.dirname(module.__file__)) for module in modules]
    folders = [os.path.realpath(folder) for folder in folders]
    fix = without("PYTHONPATH", *folders)
    if not fix:
        # As the checks of files and versions have it: one fault is one row.
        return repair_fix(context.expectation)
    return "not from the lock: %s, with a BLAS of its own:\n%s" % (" and ".join(names), fix)


def _is_expected(path, expected):
    # The parts of MKL have other file names than the library that is linked.
    if expected["name"] == "mkl" and library.identify(path).name == "mkl":
        return True
    return any(fnmatch.fnmatch(os.path.basename(path), name) for name in expected["libraries"])
