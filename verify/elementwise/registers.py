"""Check that compiled code clears the upper halves of the vector registers; compile beside it.

If AVX code returns with numbers in them, every later SSE instruction has to preserve them, and
waits for the instruction that wrote them: on AMD's Zen 5 MKL's small matrix products take twice
their time. Compilers end AVX code with VZEROUPPER, except under some options; GCC 10 with -fipa-ra
omits it in some functions with the attribute `target`.
"""

from __future__ import absolute_import, division, print_function

import functools
import json
import os
import tempfile

import numpy

from verify.blas import operations as blas_operations
from verify.blas import speed
from verify.context import Context
from verify.core import configuration, fixes, machine, process, progress
from verify.core import framework as frameworks
from verify.core.report import failed, passed, skipped
from verify.elementwise import loops

NAME = "vector registers"
UNKNOWN = "this processor does not report whether their upper halves are in use"
HIDDEN = "the C library frees them between two calls from Python"
# Without it, on a processor without AVX-512, glibc's functions for copies and texts run VZEROUPPER,
# and Python calls them between an operation and this check.
TUNABLE = "glibc.cpu.hwcaps=Prefer_No_VZEROUPPER"
TUNABLES = "GLIBC_TUNABLES"
# Seconds for each program below. What is not compiled by then, this process compiles.
LONGEST = 600
# A multiple of every vector's length, so that no scalar loop over the rest follows.
SIZE = 16
# g++ vectorises sqr unless an option forbids it, the others only with amdlibm-compat.
ELEMENTWISE = loops.FUNCTIONS + ("sqr",)


class UnknownError(Exception):
    """It cannot be told whether the upper halves are in use; the text says why."""


def start(context, calls):
    """Start the check, in a process of its own if need be; return the function that ends it.

    calls: (name, function without arguments) of each operation, as calls.calls yields them.
    """
    progress.note("checking the vector registers")
    # The process below finds them compiled.
    calls = list(calls)
    try:
        found = examine(context, calls)
    except (process.NoCompilerError, UnknownError) as error:
        check = skipped(NAME, str(error))
        return lambda: check
    started = _own_process(context) if found is None else None

    def finish():
        try:
            unclean, count = found or _result_of(started)
        except UnknownError as error:
            return skipped(NAME, str(error))
        return _check(context, unclean, count)

    return finish


def _check(context, unclean, count):
    if not unclean:
        return passed(NAME, "free after each of %d operations" % count)
    return failed(
        NAME,
        "still in use after %s: later SSE instructions, also those of other libraries, are slower"
        % ", ".join(unclean),
        _fix(context),
    )


def examine(context, calls):
    """Return ([names of calls after which the upper halves are in use], number of calls).

    None if the C library hides them. Raises UnknownError, process.NoCompilerError.
    """
    compiler = context.framework.flag("cxx")
    probe = process.load_c(compiler, "verify.elementwise", "registers.c", context.folder)
    if probe.upper_halves_in_use() < 0:
        raise UnknownError(UNKNOWN)
    probe.use_upper_halves()
    if not probe.upper_halves_in_use():
        return None
    unclean, count = [], 0
    for name, call in calls:
        call()
        probe.free_upper_halves()
        if probe.upper_halves_in_use():
            raise UnknownError(UNKNOWN)
        call()
        if probe.upper_halves_in_use():
            unclean.append(name)
        count += 1
    return unclean, count


def _own_process(context):
    """Start a process that glibc's functions do not disturb, for `examine`."""
    others = [
        item
        for item in os.environ.get(TUNABLES, "").split(":")
        if item and item.partition("=")[0] != TUNABLE.partition("=")[0]
    ]
    environ = dict(os.environ, **{TUNABLES: ":".join(others + [TUNABLE])})
    return context.start("registers-probe", "registers", environ=environ)


def _result_of(started):
    """Return what `examine` returned in the process."""
    done = started.finish(LONGEST)
    # Theano prints what the compiler says, also after the result.
    found = process.answer(done, '{"')
    if found is None:
        reason = fixes.cause(done.output) or "it printed nothing"
        raise RuntimeError("the program that examines them failed: %s" % reason)
    if "unknown" in found:
        raise UnknownError(found["unknown"])
    return found["unclean"], found["count"]


def _fix(context):
    harmful = r"-mno-vzeroupper|-fno-expensive-optimizations|-O[01s]"
    flags = str(context.framework.flag("gcc.cxxflags") or "")
    return fixes.without_flags(context, harmful) or fixes.flag_fix(
        context, "gcc.cxxflags", (flags + " -fno-ipa-ra").strip()
    )


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


def main(argv):
    """Compile the operations that the starter has compiled, call them, and print the result.

    Arguments: the framework's module, and the folder to compile into. Prints a JSON object:
    `unclean`, the names of the operations that leave the upper halves in use, and `count` of all;
    or `unknown`, why that cannot be told.
    """
    name, folder = argv
    configuration.use_compile_folder(folder)
    framework = frameworks.load(name)
    flags = os.environ.get(framework.flags_variable, "")
    context = Context(framework, None, tempfile.mkdtemp(), flags)
    try:
        found = examine(context, calls_of(context))
        if found is None:
            raise UnknownError(HIDDEN)
    except UnknownError as error:
        print(json.dumps({"unknown": str(error)}))
    else:
        print(json.dumps({"unclean": found[0], "count": found[1]}))


def start_compiling(context):
    """Start to compile; return the function that waits for it and takes the modules, or None.

    Nothing is started where it would not save time: on a single processor, where modules are shared
    with other environments or kept, without a compiler. An error is no fault: whoever calls one of
    the functions later compiles it again, and reports it.
    """
    if context.modules or not context.framework.flag("cxx"):
        return None
    started = _start_program(context, "precompiled")

    def finish():
        started.finish(LONGEST)
        target = str(context.framework.flag("base_compiledir"))
        configuration.take(os.path.join(context.folder, "precompiled"), target)

    return started and finish


def start_numba(context):
    """Start to compile a product with numba into what the environment keeps; return as above."""
    kept = os.path.join(str(context.framework.flag("base_compiledir")), frameworks.NUMBA)
    if not (context.framework.runs_numba and os.path.islink(kept)):
        return None
    started = _start_program(context, frameworks.NUMBA, frameworks.NUMBA)
    return started and (lambda: started.finish(LONGEST))


def _start_program(context, name, *more):
    has_kept = context.verified and os.path.isdir(context.verified)
    if machine.usable_cores() < 2 or has_kept:
        return None
    try:
        return context.start("precompile", name, *more)
    except EnvironmentError:
        return None


def precompile(argv):
    """Compile each elementwise function, or with `numba` a product in place of them.

    Arguments: the framework's module, the folder to compile into, and optionally `numba`.
    """
    name, folder = argv[:2]
    configuration.use_compile_folder(folder)
    framework = frameworks.load(name)
    if argv[2:]:
        speed.GemmUpdate(framework, blas_operations.DTYPES[0], mode="NUMBA").run()
        return
    for dtype in loops.DTYPES:
        loops.compiled_cases(framework, dtype)
    for function in ELEMENTWISE:
        loops.compiled(framework, function, "float32")
