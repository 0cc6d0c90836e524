"""Compile, load and link C code with the framework's compiler.

The compiler is a path, or a command with options, as the framework's flag `cxx` has it.
"""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import pkgutil
import shlex

from verify.core import process

# Seconds for one file.
LIMIT = 60


class NoCompilerError(Exception):
    """The C code cannot be compiled; the text says why."""


# {path of a source: the process.Started compiler}
_begun = {}


def begin(compiler, source, folder):
    """Start to compile a C source file of the suite into a folder, for `load`.

    source: (package of the suite, the file's name in it). Raises NoCompilerError.
    """
    path = os.path.join(folder, source[1])
    # The suite may be one file, a zip archive.
    with open(path, "wb") as file:
        file.write(pkgutil.get_data(*source))
    words = ["-O2", "-w", path, "-o", path + ".so"]
    _begun[path] = _compiling(compiler, words, path + ".txt")


def load(compiler, source, folder):
    """Return the ctypes library of a C source file, which is compiled unless `begin` was called.

    The arguments are those of `begin`. Raises NoCompilerError.
    """
    path = os.path.join(folder, source[1])
    if path not in _begun:
        begin(compiler, source, folder)
    done = _begun.pop(path).finish(LIMIT)
    if done.status != 0:
        raise NoCompilerError((done.output.strip().splitlines() or ["the compiler failed"])[-1])
    return ctypes.CDLL(path + ".so")


def link(compiler, flags, folder):
    """Link a library with flags, as the framework links its modules; return None.

    If that fails, return the linker's message. Raises NoCompilerError.
    """
    path = os.path.join(folder, "link.c")
    with open(path, "w") as file:
        file.write('extern "C" void dgemm_(void);\nvoid (*function)(void) = dgemm_;\n')
    try:
        words = shlex.split(flags)
    except ValueError as error:
        return str(error)
    # `-x none`: the flags may name files of libraries.
    words = [path, "-x", "none", "-o", path + ".so"] + words
    done = _compiling(compiler, words, path + ".txt").finish(LIMIT)
    if done.status == 0:
        return None
    lines = done.output.strip().splitlines() or ["the linker failed"]
    return next((line for line in lines if "cannot find" in line), lines[0])


def _compiling(compiler, words, path):
    """Start to make a shared library; return the Started, whose messages go to a file."""
    if not compiler:
        raise NoCompilerError("the framework has no C++ compiler")
    command = shlex.split(compiler) if not os.path.exists(compiler) else [compiler]
    try:
        return process.Started(command + ["-shared", "-fPIC", "-x", "c++"] + words, path)
    except OSError as error:
        raise NoCompilerError("%s: %s" % (command[0], error.strerror))
