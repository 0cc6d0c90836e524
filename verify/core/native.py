"""C of the suite's own, compiled with the framework's compiler and loaded."""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import shlex

from verify.core import process


class NoCompilerError(Exception):
    """It cannot be compiled here; the text says why."""


def load(compiler, source, folder):
    """Compile a C source file into a folder, and return the loaded library.

    Raises NoCompilerError.
    """
    if not compiler:
        raise NoCompilerError("the framework has no C++ compiler")
    made = os.path.join(folder, os.path.splitext(os.path.basename(source))[0] + ".so")
    words = shlex.split(compiler) if not os.path.exists(compiler) else [compiler]
    words += ["-O2", "-w", "-shared", "-fPIC", "-x", "c++", source]
    try:
        done = process.call(words + ["-o", made], 60)
    except OSError as error:
        raise NoCompilerError("%s: %s" % (words[0], error.strerror))
    if done.status != 0:
        raise NoCompilerError((done.output.strip().splitlines() or ["the compiler failed"])[-1])
    return ctypes.CDLL(made)
