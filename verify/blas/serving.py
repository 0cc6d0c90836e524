"""Check which library matrix products really call, and that it is the only one."""

from __future__ import absolute_import, division, print_function

import collections
import os
import shlex
import sys

from verify.blas import bindings, library, speed
from verify.blas import operations as blas_operations
from verify.core import c_code
from verify.core.fixes import (
    compiler_fix,
    fix_of_words,
    has_compiler,
    ldflags_fix,
    library_fix,
    package_fix,
    repair_of,
)
from verify.core.packages import import_installed
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
    if context.is_by_numba:
        return skipped(name, "empty, which linker=cvm would read: programs run numba here")
    if not value:
        return failed(name, "empty: matrix products go through NumPy", ldflags_fix(context))
    try:
        message = c_code.link(context.framework.flag("cxx"), value, context.folder)
    except c_code.NoCompilerError as error:
        message = str(error)
    if message:
        fix = fix_of_words(context, message)
        fix = fix or (ldflags_fix if has_compiler(context) else compiler_fix)(context)
        return failed(name, "%s does not link: %s" % (value, message), fix)
    # The linker finds the library in another folder. The serving library is checked by itself.
    folders = [word[2:] for word in shlex.split(value) if word.startswith("-L")]
    missing = [folder for folder in folders if folder and not os.path.isdir(folder)]
    ignored = "; the linker ignores what does not exist: " + ", ".join(missing) if missing else ""
    return passed(name, value + ignored)


def check(context):
    """Check that the calls end in the expected library; set context.serving to it.

    The calls are those of the framework's compiled modules, or else of NumPy's.
    """
    is_alone = context.framework.name == "numpy"
    calls = [] if is_alone else bindings.bindings_of(_compiled_modules(context))
    through_numpy = not calls
    calls = calls or bindings.bindings_of_package("numpy")
    if is_alone:
        import_installed("scipy.linalg", "scipy.linalg.cython_blas")
        if not calls:
            return failed(NAME, "NumPy calls no BLAS library", package_fix("NumPy", None))
    if not calls:
        detail = "neither the framework's modules nor NumPy's call any BLAS library"
        return failed(NAME, detail, ldflags_fix(context))
    paths = sorted({binding.library for binding in calls})
    libraries = library.libraries_of(paths)
    serving = context.serving = libraries[0]
    detail = " and ".join(library.describe(item) for item in libraries)
    if through_numpy and not is_alone:
        detail += ", through NumPy"
    detail += _others(context)
    if len(libraries) > 1 and not is_alone:
        return failed(NAME, "more than one: " + detail, loader_fix(paths) or library_fix(context))
    fix = _compile_fix(context) if through_numpy and not is_alone else None
    if context.expectation:
        blas = context.expectation["blas"]
        if blas is None:
            if through_numpy:
                return passed(NAME, detail)
            return failed(NAME, "this is not the baseline: " + detail, library_fix(context))
        is_named = serving.name == blas["name"] and library.is_expected(serving.path, blas)
        if is_named and not through_numpy:
            return passed(NAME, detail)
        words = (blas["name"], ", ".join(blas["libraries"]), detail)
        return failed(NAME, "expected %s (%s); found %s" % words, fix or library_fix(context))
    if serving.name == library.UNKNOWN:
        detail += ": not known as a library with fast kernels"
        return failed(NAME, detail, fix or library_fix(context))
    if context.is_by_numba:
        return skipped(NAME, "with linker=cvm: " + detail)
    if through_numpy and not is_alone:
        return failed(NAME, detail, fix or ldflags_fix(context))
    return passed(NAME, detail)


def _compile_fix(context):
    """Return the fix of what keeps products from being compiled, None if nothing does."""
    return _compiled(context).fix or (None if has_compiler(context) else compiler_fix(context))


def _compiled_modules(context):
    """Return the framework's compiled modules that are loaded, one with a product among them."""
    _compiled(context)
    return bindings.modules_below(context.framework.flag("compiledir"))


def _compiled(context):
    """Return a compiled product of the last type; those of the others are compiled, too."""
    first = blas_operations.OPERATIONS[0]
    return [blas_operations.compiled(context, first, each) for each in blas_operations.DTYPES][-1]


def _others(context):
    """Return which other libraries NumPy and SciPy call, as the end of a detail."""
    found = []
    for package in ("numpy", "scipy"):
        paths = {binding.library for binding in bindings.bindings_of_package(package)}
        others = map(library.identify, sorted(paths - {context.serving.path}))
        found += ["; %s uses %s" % (package, library.describe(each)) for each in others]
    return "".join(found)


def check_one_blas(context):
    """Check that there is one BLAS library in the process, where the expectation says so.

    One that nothing calls counts, too: its threads and memory are there. Elsewhere several are no
    fault, and the detail names those that are called.
    """
    callers = callers_of_libraries(context)
    if not callers:
        return skipped(ONE_BLAS, "nothing calls a BLAS product")
    expected = context.expectation and context.expectation["blas"]
    is_one = expected and expected.get("alone")
    if is_one:
        callers.update((path, [NOBODY]) for path in uncalled(context, callers))
    libraries = library.libraries_of(library.behind(path) for path in callers)
    # The parts of one MKL are one library.
    heads = library.libraries_of(callers)
    names_of = collections.defaultdict(set)
    for path in callers:
        item = library.identify(path)
        found = item if item in heads else heads[-1]
        names_of[library.describe(found)].update(callers[path])
    rows = sorted((sorted(names), text) for text, names in names_of.items())
    detail = "; ".join("%s: %s" % (" and ".join(names), text) for names, text in rows)
    if len(libraries) > 1:
        detail = "%d libraries, each with threads of its own: %s" % (len(libraries), detail)
        if is_one:
            context.second_blas_fix = _one_blas_fix(context, callers, expected)
            return failed(ONE_BLAS, detail, context.second_blas_fix)
    return passed(ONE_BLAS, detail)


def callers_of_libraries(context):
    """Return {path of a library: [name of the framework, or of a package, that calls it]}."""
    import_installed(*CALLERS)
    names = dict.fromkeys(_compiled_modules(context), context.framework.name)
    for path in bindings.mapped_files():
        names.setdefault(path, _package(path))
    callers = collections.defaultdict(set)
    for binding in bindings.bindings_of([path for path in names if names[path]]):
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
    return [
        path
        for path in paths
        if bindings.defining(path)
        and library.behind(path) not in called
        # The parts of one MKL add nothing.
        and len(library.merged(libraries + [library.identify(path)])) > len(libraries)
    ]


def _package(path):
    """Return the package that a file belongs to; None of any other, and of a wheel's libraries."""
    parts = path.split(os.sep)
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-2]:
            name = parts[parts.index(folder) + 1]
            # The libraries in a wheel call each other.
            return None if name.endswith(".libs") or ".libs" in parts else name
    return None


def _one_blas_fix(context, callers, expected):
    # The parts of MKL have other file names than the library that is linked.
    behind = {
        library.behind(path)
        for path in callers
        if library.is_expected(path, expected)
        or expected["name"] == library.identify(path).name == "mkl"
    }
    paths = [path for path in callers if library.behind(path) not in behind]
    others = sorted({name for path in paths for name in callers[path]})
    fix = loader_fix(paths)
    if fix:
        return fix
    if others == [NOBODY]:
        return repair_of(context)
    if context.framework.name in others or not others:
        return ldflags_fix(context)
    return packages_fix(context, [name for name in others if name != NOBODY])


def packages_fix(context, names):
    """Return how to keep packages from outside of an environment, which call another BLAS."""
    # Folders of site-packages, as Python's path names them.
    files = [sys.modules[name].__file__ for name in names if name in sys.modules]
    folders = [os.path.realpath(os.path.dirname(os.path.dirname(file))) for file in files]
    fix = without("PYTHONPATH", *folders)
    if not fix:
        # As the checks of files and versions have it: one fault is one row.
        return repair_of(context)
    return "not from the lock: %s, with a BLAS of its own:\n%s" % (" and ".join(names), fix)
