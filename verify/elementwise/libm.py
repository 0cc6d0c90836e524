"""lib.amdlibm: do compiled loops call its array functions, whose are they, and are they right?"""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import re
import sys

import numpy

from verify.blas import bindings, relocations
from verify.checks import settings
from verify.core.fixes import explain
from verify.core.framework import AMDLIBM_FLAGS
from verify.core.report import failed, passed, skipped
from verify.elementwise import speed as elementwise_speed

NAME = "libm"
LIBRARY = "libamdlibm.so"
LOOPS = "libm in fused loops"
ACCURACY = "libm accuracy"
COMPAT, AMDS, UNKNOWN = "amdlibm-compat", "AMD LibM", "unknown library"
UNARY = ("exp", "log", "log2", "log10", "sin", "cos")
ARRAYS = tuple(pattern % name for name in UNARY for pattern in ("amd_vrsa_%sf", "amd_vrda_%s"))
ARRAYS += ("amd_vrsa_powf", "amd_vrsa_powxf")
# In units in the last place. AMD gives its own functions less than this.
ALLOWED = {COMPAT: 1.0, AMDS: 4.0, UNKNOWN: 4.0}
SAMPLES = 20000
ANEW = "build the environment anew"

Library = collections.namedtuple("Library", "name detail path")


def wanted(context):
    """Say whether the environment is meant to have it."""
    if context.expectation:
        given = [str(context.expectation["flags"].get(name, "")) for name in AMDLIBM_FLAGS]
        return "true" in [value.lower() for value in given]
    return _on(context)


def _on(context):
    return bool(context.framework.flag(context.framework.amdlibm_flag))


def check(context):
    """Check that compiled loops call the array functions, and tell which library serves them."""
    flag = context.framework.amdlibm_flag
    if not wanted(context):
        return skipped(NAME, "%s is off: exp and the like are the C library's" % flag)
    if not _on(context):
        source, how = settings.source_and_fix(context, flag, "True")
        return failed(NAME, "%s is off (%s): no array function is called" % (flag, source), how)
    try:
        _run(context, "exp")
    except Exception as error:
        why, fix = _missing(error)
        return failed(NAME, "exp does not compile: " + why, fix)
    library = serving(context)
    if library is None:
        return failed(
            NAME,
            "the compiled exp calls none of the array functions, though %s is on" % flag,
            "remove the compile folder %s: its modules were made without the flag"
            % context.framework.flag("compiledir"),
        )
    return _as_expected(context, library)


def serving(context):
    """Return the Library that the compiled modules' calls of array functions end in, or None."""
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    for served in bindings.servers_of(modules, ARRAYS):
        return identify(served.library)
    return None


def identify(path):
    """Return the Library that is loaded from a path; by what it says of itself, not its name."""
    handle = ctypes.CDLL(path, mode=bindings.RTLD_NOLOAD | bindings.RTLD_LAZY)
    if hasattr(handle, "amdlibm_compat_about"):
        for name in ("amdlibm_compat_about", "amdlibm_compat_tier"):
            getattr(handle, name).restype = ctypes.c_char_p
        about = handle.amdlibm_compat_about().decode("ascii").split(":")[0]
        tier = handle.amdlibm_compat_tier().decode("ascii")
        return Library(COMPAT, "%s (not AMD's), %s" % (about, tier), path)
    with open(path, "rb") as file:
        data = file.read()
    # The version text that AMD's releases carry.
    name = AMDS if b"AOCL-LibM" in data or b"ALM_VERSION" in data else UNKNOWN
    return Library(name, name, path)


def _run(context, name):
    """Compile a function, from the compile folder the second time, and call it."""
    function = elementwise_speed.compiled(context.framework, name, "float32")
    function(numpy.ones((2, 2), "float32"))


def _as_expected(context, library):
    detail = "%s, %s" % (library.detail, os.path.basename(library.path))
    if context.expectation:
        packages = [package["name"] for package in context.expectation["packages"]]
        own = AMDS if "amdlibm" in packages else COMPAT
        inside = os.path.realpath(sys.prefix) + os.sep
        if library.name != own or not library.path.startswith(inside):
            return failed(
                NAME, "expected %s in %s; found %s" % (own, inside, detail), _fix(library)
            )
    return passed(NAME, detail)


def check_loops(context):
    """Check that a loop which no array function serves calls the library's vector functions."""
    if not (wanted(context) and _on(context)):
        return skipped(LOOPS, "%s is off" % context.framework.amdlibm_flag)
    _run(context, "exp")
    library = serving(context)
    if library is None or library.name != COMPAT:
        return skipped(LOOPS, "only %s has functions for them" % COMPAT)
    _run(context, "tanh")
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    called = sorted(
        name for path in modules for name in relocations.imports(path) if "amd_tanhf" in name
    )
    vector = [name for name in called if name.startswith("_ZGV")]
    if vector:
        return passed(LOOPS, "tanh calls %s" % vector[-1])
    return failed(
        LOOPS,
        "tanh calls %s" % (" and ".join(called) or "the C library's function"),
        "take AMDLIBM_COMPAT_NO_SIMD, and optimisation below -O3, out of gcc.cxxflags, which are %r"
        % context.framework.flag("gcc.cxxflags"),
    )


def check_accuracy(context):
    """Check sampled results of every array function against a longer format."""
    library = serving(context) if wanted(context) and _on(context) else None
    if library is None:
        return skipped(ACCURACY, "no array function is called")
    worst, allowed = (0.0, ""), ALLOWED[library.name]
    handle = ctypes.CDLL(library.path, mode=bindings.RTLD_NOLOAD | bindings.RTLD_LAZY)
    for symbol in ARRAYS:
        if not hasattr(handle, symbol):
            continue
        error, where = _worst(getattr(handle, symbol), symbol)
        worst = max(worst, (error, "%s at %s" % (symbol, where)))
    detail = "at most %.2f ULP (%s), %d samples each" % (worst + (SAMPLES,))
    if worst[0] <= allowed:
        return passed(ACCURACY, detail)
    return failed(
        ACCURACY,
        "%s is off by %.4g ULP (%s); %.1f are allowed"
        % (library.detail, worst[0], worst[1], allowed),
        _fix(library),
    )


def _worst(function, symbol):
    """Return (the largest error in ULP, the argument it came with) of an array function."""
    single = "_vrsa_" in symbol
    dtype, wide = (numpy.float32, numpy.float64) if single else (numpy.float64, numpy.longdouble)
    name = symbol.split("_")[-1]
    name = name[:-1] if single else name
    x = _arguments(name, dtype)
    z = numpy.empty_like(x)
    function.restype = None
    given = [ctypes.c_void_p(a.ctypes.data) for a in (x, z)]
    if name == "pow":
        y = numpy.linspace(-4, 4, len(x)).astype(dtype)
        given.insert(1, ctypes.c_void_p(y.ctypes.data))
        expected = numpy.power(x.astype(wide), y.astype(wide))
    elif name == "powx":
        given.insert(1, ctypes.c_float(1.5))
        expected = numpy.power(x.astype(wide), wide(1.5))
    else:
        expected = getattr(numpy, name)(x.astype(wide))
    function(ctypes.c_int(len(x)), *given)
    errors = in_ulp(z, expected, dtype, wide)
    at = int(numpy.argmax(errors))
    return float(errors[at]), "%.9g" % x[at]


def in_ulp(found, expected, dtype, wide):
    """Return by how many units in the last place results differ from what they should be."""
    limits = numpy.finfo(dtype)
    _, exponent = numpy.frexp(numpy.maximum(numpy.abs(expected), wide(limits.tiny)))
    errors = numpy.abs(found.astype(wide) - expected) / numpy.ldexp(
        wide(1), exponent - (limits.nmant + 1)
    )
    return numpy.where(numpy.isnan(errors), numpy.inf, errors)


def _arguments(name, dtype):
    random, limits = numpy.random.RandomState(1), numpy.finfo(dtype)
    low, high = numpy.log(float(limits.tiny)), numpy.log(float(limits.max))
    half = SAMPLES // 2
    if name.startswith("exp"):
        parts = random.uniform(low, high * 0.999, half), random.uniform(-1, 1, half)
    elif name.startswith("pow"):
        parts = numpy.exp(random.uniform(-20, 20, half)), random.uniform(0.5, 2, half)
    elif name.startswith("log"):
        parts = numpy.exp(random.uniform(low, high * 0.999, half)), random.uniform(0.5, 2, half)
    else:
        parts = random.uniform(-10, 10, half), random.uniform(-1000, 1000, half)
    return numpy.concatenate(parts).astype(dtype)


def _missing(error):
    """Return (why nothing compiles, what to do)."""
    text = str(error)
    if re.search(r"amdlibm\S*\.h: No such file", text):
        return "there is no header amdlibm.h where the compiler looks", ANEW
    if "cannot find -lamdlibm" in text or LIBRARY + ": cannot open" in text:
        return "there is no %s where the linker or the loader looks" % LIBRARY, ANEW
    return explain(error), ANEW


def _fix(library):
    for variable in ("LD_PRELOAD", "LD_LIBRARY_PATH"):
        value = os.environ.get(variable, "")
        folder = os.path.dirname(library.path)
        named = [os.path.realpath(part) for part in value.replace(" ", ":").split(":") if part]
        if library.path in named or folder in named:
            return "%s leads to %s: take that out of it" % (variable, library.path)
    return ANEW
