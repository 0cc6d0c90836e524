"""Check that compiled code clears the upper halves of the vector registers; compile beside it.

If AVX code returns with numbers in them, every later SSE instruction has to preserve them, and
waits for the instruction that wrote them: on AMD's Zen 5 MKL's small matrix products take twice
their time. Compilers end AVX code with VZEROUPPER, except under some options; GCC 10 with -fipa-ra
omits it in some functions with the attribute `target`.
"""

from __future__ import absolute_import, division, print_function

import functools
import os

import numpy

from verify import context as contexts
from verify.blas import operations as blas_operations
from verify.blas import speed
from verify.core import c_code, causes, configuration, fixes, machine, progress
from verify.core.configuration import NUMBA
from verify.core.report import failed, passed, skipped
from verify.elementwise import loops

NAME = "vector registers"
# Looks at the registers.
SOURCE = "verify.elementwise", "registers.c"
UNKNOWN = "this processor does not report whether their upper halves are in use"
HIDDEN = "the C library frees them between two calls from Python"
# Without it, on a processor without AVX-512, glibc's functions for copies and texts run VZEROUPPER,
# and Python calls them between an operation and this check.
TUNABLE = "glibc.cpu.hwcaps=Prefer_No_VZEROUPPER"
TUNABLES = "GLIBC_TUNABLES"
# With it GCC 10 ends AVX code by VZEROUPPER.
NO_IPA_RA = "-fno-ipa-ra"
# Seconds for each program below. What is not compiled by then, this process compiles.
LONGEST = 600
# A multiple of every vector's length, so that no scalar loop over the rest follows.
SIZE = 16
# g++ vectorises sqr unless an option forbids it, the others only with amdlibm-compat.
ELEMENTWISE = loops.FUNCTIONS + ("sqr",)


def start(context, calls):
    """Start the check, in a process of its own if need be; return the function that ends it.

    calls: (name, function without arguments) of each operation, as calls_of() yields them.
    """
    progress.note("checking the vector registers")
    # The process below finds them compiled.
    found = examine(context, list(calls))
    if found.get("unknown") != HIDDEN:
        return lambda: _check(context, found)
    tunables = [item for item in os.environ.get(TUNABLES, "").split(":") if item]
    tunables = [item for item in tunables if item.partition("=")[0] != TUNABLE.partition("=")[0]]
    environ = dict(os.environ, **{TUNABLES: ":".join(tunables + [TUNABLE])})
    started = context.start("elementwise.registers:examined", "registers", environ=environ)
    return lambda: _check(context, started.answer(LONGEST))


def _check(context, found):
    if "unknown" in found:
        return skipped(NAME, found["unknown"])
    if not found["unclean"]:
        return passed(NAME, "free after each of %d operations" % found["count"])
    detail = (
        "still in use after %s: later SSE instructions, also those of other libraries, are slower"
    )
    detail %= ", ".join(found["unclean"])
    fix = fixes.without_flags(context, r"-mno-vzeroupper|-fno-expensive-optimizations|-O[01s]")
    words = str(context.framework.flag("gcc.cxxflags") or "").split()
    if not fix and NO_IPA_RA in words:
        fix = causes.unknown(fixes.verify_command() + " --debug")
    flags = " ".join(words + [NO_IPA_RA])
    return failed(NAME, detail, fix or fixes.flag_fix(context, "gcc.cxxflags", flags))


def examine(context, calls):
    """Return {`unclean`: names of calls that leave the upper halves in use, `count` of all calls}.

    Or {`unknown`: why that cannot be told}: HIDDEN if only another process could.
    """
    compiler = context.framework.flag("cxx")
    try:
        probe = c_code.load(compiler, SOURCE, context.folder)
    except c_code.NoCompilerError as error:
        return {"unknown": str(error)}
    if probe.upper_halves_in_use() < 0:
        return {"unknown": UNKNOWN}
    probe.use_upper_halves()
    if not probe.upper_halves_in_use():
        return {"unknown": HIDDEN}
    unclean = []
    for name, call in calls:
        call()
        probe.free_upper_halves()
        if probe.upper_halves_in_use():
            return {"unknown": UNKNOWN}
        call()
        if probe.upper_halves_in_use():
            unclean.append(name)
    return {"unclean": unclean, "count": len(calls)}


def calls_of(context):
    """Yield (name, function without arguments) of each operation that compiles."""
    for name in ELEMENTWISE:
        function = loops.of_context(context, name, "float32")
        yield name, functools.partial(function, numpy.ones((SIZE, SIZE), "float32"))
    for operation in blas_operations.OPERATIONS:
        for dtype in blas_operations.DTYPES:
            function = blas_operations.compiled(context, operation, dtype).function
            if function is not None:
                values = blas_operations.ones(operation, SIZE, dtype)
                name = "%s %s" % (operation.name, dtype)
                yield name, functools.partial(function, *values)


def examined(name, folder):
    """Compile the operations that the starter has compiled; return as examine() does."""
    context = contexts.of_program(name, folder)
    return examine(context, list(calls_of(context)))


def start_compiling(context, what="precompiled"):
    """Start to compile; return the function that waits for it and takes the modules.

    what: NUMBA to compile a product with numba, into what the environment keeps. Nothing is started
    where it would not save time: on a single processor, where modules are shared with other
    environments or kept, without a compiler. An error is no fault: whoever calls one of the
    functions later compiles it again, and reports it.
    """
    folder = str(context.framework.flag("base_compiledir"))
    kept = context.verified
    is_wanted = context.framework.flag("cxx") and not context.modules
    if what == NUMBA:
        kept = os.path.join(folder, NUMBA)
        is_wanted = context.framework.runs_numba and os.path.islink(kept)
    has_kept = kept and os.path.isdir(kept) and os.listdir(kept)
    if not is_wanted or has_kept or machine.usable_cores() < 2:
        return lambda: None
    try:
        started = context.start("elementwise.registers:precompile", what)
    except EnvironmentError:
        return lambda: None

    def finish():
        started.finish(LONGEST)
        configuration.take(os.path.join(context.folder, what), folder)

    return finish


def precompile(name, folder):
    """Compile each elementwise function, or in a folder called NUMBA a product by it."""
    framework = contexts.of_program(name, folder).framework
    if os.path.basename(folder) == NUMBA:
        speed.GemmUpdate(framework, blas_operations.DTYPES[0], mode="NUMBA").run()
        return
    for dtype in loops.DTYPES:
        loops.compiled_cases(framework, dtype)
    for function in ELEMENTWISE:
        loops.compiled(framework, function, "float32")
