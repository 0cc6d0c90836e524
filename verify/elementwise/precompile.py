"""Compile the elementwise functions in a process of its own, beside what this one compiles.

It is a program too, which start() starts. Arguments: the framework's module, and the folder to
compile into.
"""

from __future__ import absolute_import, division, print_function

import os
import shutil

from verify.core import compiling, machine
from verify.core import framework as frameworks
from verify.elementwise import numbers, registers, speed

# Seconds. What is not compiled by then, the suite's own process compiles.
LONGEST = 600
# The file in the folder of each finished module.
KEY = "key.pkl"
COPY = ".copy"


def start(context):
    """Start to compile; return the function that waits for it, and takes the modules.

    Nothing is started where it would not save time: on a single processor, where modules are shared
    with other environments, without a compiler. An error is no fault: whoever calls one of the
    functions later compiles it again, and reports it.
    """
    if machine.usable_cores() < 2 or context.modules or not context.framework.flag("cxx"):
        return lambda: None
    started = context.start("precompile", "precompiled")

    def finish():
        started.finish(LONGEST)
        try:
            take(
                os.path.join(context.folder, "precompiled"),
                str(context.framework.flag("base_compiledir")),
            )
        except EnvironmentError:
            # What is missing is compiled again.
            return

    return finish


def take(source, target):
    """Copy each module of a compile folder to another one that lacks it.

    A framework that misses a module looks through its folder again.
    """
    for path, _, names in os.walk(source):
        other = os.path.join(target, os.path.relpath(path, source))
        if KEY in names and not os.path.exists(other):
            shutil.copytree(path, path + COPY)
            os.rename(path + COPY, other)


def main(argv):
    """Compile each function."""
    name, folder = argv
    compiling.use_compile_folder(folder)
    framework = frameworks.load(name)
    for dtype in numbers.DTYPES:
        numbers.compiled(framework, dtype)
    for function in registers.ELEMENTWISE:
        speed.compiled(framework, function, "float32")
