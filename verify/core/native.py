"""Compile and load the suite's own C code with the framework's compiler."""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import shlex

from verify.core import process


class NoCompilerError(Exception):
    """The C code cannot be compiled; the text says why."""


def load(compiler, source, folder):
    """Compile a C source file into a folder; return the loaded ctypes library.

    compiler: the framework's flag `cxx`: a path, or a command with options.
    Raises NoCompilerError.
    """
    if not compiler:
        raise NoCompilerError("the framework has no C++ compiler")
    library = os.path.join(folder, os.path.splitext(os.path.basename(source))[0] + ".so")
    command = shlex.split(compiler) if not os.path.exists(compiler) else [compiler]
    command += ["-O2", "-w", "-shared", "-fPIC", "-x", "c++", source]
    try:
        done = process.call(command + ["-o", library], 60)
    except OSError as error:
        raise NoCompilerError("%s: %s" % (command[0], error.strerror))
    if done.status != 0:
        raise NoCompilerError((done.output.strip().splitlines() or ["the compiler failed"])[-1])
    return ctypes.CDLL(library)
