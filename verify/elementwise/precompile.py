"""Compile the elementwise functions in a process of its own, beside what this one compiles.

It is a program too, which start() starts. Arguments: the framework's module, and the folder to
compile into.
"""

from __future__ import absolute_import, division, print_function

import os

from verify.core import compiling, machine
from verify.core import framework as frameworks
from verify.elementwise import numbers, registers, speed

# Seconds. What is not compiled by then, the suite's own process compiles.
LONGEST = 600


def start(context):
    """Start to compile; return the function that waits for it and takes the modules, or None.

    Nothing is started where it would not save time: on a single processor, where modules are shared
    with other environments or kept, without a compiler. An error is no fault: whoever calls one of
    the functions later compiles it again, and reports it.
    """
    has_modules = context.modules or (context.verified and os.path.isdir(context.verified))
    if machine.usable_cores() < 2 or has_modules or not context.framework.flag("cxx"):
        return None
    try:
        started = context.start("precompile", "precompiled")
    except EnvironmentError:
        return None

    def finish():
        started.finish(LONGEST)
        target = str(context.framework.flag("base_compiledir"))
        compiling.take(os.path.join(context.folder, "precompiled"), target)

    return finish


def main(argv):
    """Compile each function."""
    name, folder = argv
    compiling.use_compile_folder(folder)
    framework = frameworks.load(name)
    for dtype in numbers.DTYPES:
        numbers.compiled(framework, dtype)
    for function in registers.ELEMENTWISE:
        speed.compiled(framework, function, "float32")
