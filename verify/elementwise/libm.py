"""Check that compiled loops call the array functions of AMD's LibM or of amdlibm-compat.

The frameworks' flag lib.amdlibm makes them do so.
"""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import re
import sys

import numpy

from verify.blas import bindings, relocations
from verify.core import repair
from verify.core.config_files import source_of
from verify.core.fixes import compiler_fix, explain, own_fix, setting_fix, undo_fix, without_flags
from verify.core.framework import AMDLIBM_FLAGS
from verify.core.report import failed, passed, skipped
from verify.core.variables import loader_fix
from verify.elementwise import speed as elementwise_speed

NAME = "libm"
LOOPS = "libm in fused loops"
FILE = "libamdlibm.so"
COMPAT, AMDS, UNKNOWN = "amdlibm-compat", "AMD LibM", "unknown library"
UNARY = ("exp", "log", "log2", "log10", "sin", "cos")
ARRAYS = tuple(pattern % name for name in UNARY for pattern in ("amd_vrsa_%sf", "amd_vrda_%s"))
ARRAYS += ("amd_vrsa_powf", "amd_vrsa_powxf")

# name: COMPAT, AMDS or UNKNOWN.
MathLibrary = collections.namedtuple("MathLibrary", "name detail path")


def is_expected(context):
    """Say whether the environment's settings turn the library on, or in a diagnosis the flag."""
    if context.expectation:
        flags = context.expectation["flags"]
        return any(str(flags.get(name, "")).lower() == "true" for name in AMDLIBM_FLAGS)
    return _is_on(context)


def _is_on(context):
    return bool(context.framework.flag(context.framework.amdlibm_flag))


def check(context):
    """Check that a compiled exp calls an array function of the expected library."""
    flag = context.framework.amdlibm_flag
    if not is_expected(context):
        return skipped(NAME, "%s is off: exp and the like are the C library's" % flag)
    if not _is_on(context):
        source = source_of(context, flag)[0] or "nothing sets it"
        detail = "%s is off (%s): no array function is called" % (flag, source)
        return failed(NAME, detail, own_fix(context, flag))
    try:
        _run(context, "exp")
    except Exception as error:
        return failed(NAME, "exp does not compile: " + _reason(error), _fix(context))
    library = called(context)
    if library is None:
        return failed(
            NAME,
            "the compiled exp calls none of the array functions, though %s is on" % flag,
            _fix(context),
        )
    return _as_expected(context, library)


def called(context):
    """Return the MathLibrary whose array functions compiled modules call, or None; None if off."""
    if not (is_expected(context) and _is_on(context)):
        return None
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    calls = bindings.bindings_of(modules, ARRAYS)
    return identify(calls[0].library) if calls else None


def identify(path):
    """Return the MathLibrary that is loaded from a path, by its symbols, not by its file name."""
    handle = bindings.loaded(path)
    if hasattr(handle, "amdlibm_compat_about"):
        for name in ("amdlibm_compat_about", "amdlibm_compat_tier"):
            getattr(handle, name).restype = ctypes.c_char_p
        about = handle.amdlibm_compat_about().decode("ascii").split(":")[0]
        tier = handle.amdlibm_compat_tier().decode("ascii")
        return MathLibrary(COMPAT, "%s (not AMD's), %s" % (about, tier), path)
    with open(path, "rb") as file:
        data = file.read()
    # The version text in AMD's releases.
    name = AMDS if b"AOCL-LibM" in data or b"ALM_VERSION" in data else UNKNOWN
    return MathLibrary(name, name, path)


def _run(context, name):
    """Compile a function, from the compile folder the second time, and call it."""
    function = elementwise_speed.compiled(context.framework, name, "float32")
    function(numpy.ones((2, 2), "float32"))


def _as_expected(context, library):
    detail = "%s, %s" % (library.detail, os.path.basename(library.path))
    if context.expectation:
        packages = [package["name"] for package in context.expectation["packages"]]
        name = AMDS if "amdlibm" in packages else COMPAT
        folder = os.path.realpath(sys.prefix) + os.sep
        if library.name != name or not library.path.startswith(folder):
            detail = "expected %s in %s; found %s" % (name, folder, detail)
            return failed(NAME, detail, fix(context, library))
    return passed(NAME, detail)


def check_loops(context):
    """Check that a loop without an array function calls amdlibm-compat's vector functions."""
    if not (is_expected(context) and _is_on(context)):
        return skipped(LOOPS, "%s is off" % context.framework.amdlibm_flag)
    _run(context, "exp")
    library = called(context)
    if library is None or library.name != COMPAT:
        return skipped(LOOPS, "only %s has functions for them" % COMPAT)
    _run(context, "tanh")
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    functions = sorted(
        name for path in modules for name in relocations.imports(path) if "amd_tanhf" in name
    )
    vector = [name for name in functions if name.startswith("_ZGV")]
    if vector:
        return passed(LOOPS, "tanh calls %s" % vector[-1])
    return failed(
        LOOPS,
        "tanh calls %s" % (" and ".join(functions) or "the C library's function"),
        without_flags(context, r"-DAMDLIBM_COMPAT_NO_SIMD(=\S*)?|-O[012sg]") or _fix(context),
    )


def _reason(error):
    """Return why nothing compiles."""
    text = str(error)
    if re.search(r"amdlibm\S*\.h: No such file", text):
        return "the compiler finds no header amdlibm.h"
    if "cannot find -lamdlibm" in text or FILE + ": cannot open" in text:
        return "the linker or the loader finds no " + FILE
    return explain(error)


def fix(context, library):
    """Return how to get rid of a MathLibrary that is not the environment's own, or is wrong."""
    return loader_fix([library.path]) or _fix(context)


def _fix(context):
    """Return how to have the environment's own files compiled and called."""
    if not context.framework.flag("cxx"):
        return compiler_fix(context)
    if context.expectation:
        return repair.fix(context.expectation)
    flag = context.framework.amdlibm_flag
    return undo_fix(context, flag) or setting_fix(context, flag, "False")
