"""Compile in processes of their own, beside what this one compiles: elementwise functions, numba.

It is a program too, which start() starts. Arguments: the framework's module, the folder to compile
into, and `numba` to compile a product with numba in place of the elementwise functions.
"""

from __future__ import absolute_import, division, print_function

import os

from verify.blas import operations, speed
from verify.core import configuration, machine
from verify.core import framework as frameworks
from verify.elementwise import loops, registers

# Seconds. What is not compiled by then, the suite's own process compiles.
LONGEST = 600


def start(context):
    """Start to compile; return the function that waits for it and takes the modules, or None.

    Nothing is started where it would not save time: on a single processor, where modules are shared
    with other environments or kept, without a compiler. An error is no fault: whoever calls one of
    the functions later compiles it again, and reports it.
    """
    if context.modules or not context.framework.flag("cxx"):
        return None
    started = _start(context, "precompiled")

    def finish():
        started.finish(LONGEST)
        target = str(context.framework.flag("base_compiledir"))
        configuration.take(os.path.join(context.folder, "precompiled"), target)

    return started and finish


def start_numba(context):
    """Start to compile a product with numba into what the environment keeps, as `start` does."""
    kept = os.path.join(str(context.framework.flag("base_compiledir")), frameworks.NUMBA)
    if not (context.framework.runs_numba and os.path.islink(kept)):
        return None
    started = _start(context, frameworks.NUMBA, frameworks.NUMBA)
    return started and (lambda: started.finish(LONGEST))


def _start(context, name, *more):
    has_kept = context.verified and os.path.isdir(context.verified)
    if machine.usable_cores() < 2 or has_kept:
        return None
    try:
        return context.start("precompile", name, *more)
    except EnvironmentError:
        return None


def main(argv):
    """Compile each function."""
    name, folder = argv[:2]
    configuration.use_compile_folder(folder)
    framework = frameworks.load(name)
    if argv[2:]:
        speed.GemmUpdate(framework, operations.DTYPES[0], mode="NUMBA").run()
        return
    for dtype in loops.DTYPES:
        loops.compiled_cases(framework, dtype)
    for function in registers.ELEMENTWISE:
        loops.compiled(framework, function, "float32")
