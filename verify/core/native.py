"""Compile and load the suite's own C code with the framework's compiler."""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import pkgutil
import shlex

from verify.core import process


class NoCompilerError(Exception):
    """The C code cannot be compiled; the text says why."""


def load(compiler, package, name, folder):
    """Compile a C source file of the suite into a folder; return the loaded ctypes library.

    compiler: the framework's flag `cxx`: a path, or a command with options. package: of the suite,
    `verify.blas`; name: the file's in it. Raises NoCompilerError.
    """
    source = os.path.join(folder, name)
    # The suite may be one file, a zip archive.
    with open(source, "wb") as file:
        file.write(pkgutil.get_data(package, name))
    library = os.path.splitext(source)[0] + ".so"
    done = _compile(compiler, ["-O2", "-w", source, "-o", library])
    if done.status != 0:
        raise NoCompilerError((done.output.strip().splitlines() or ["the compiler failed"])[-1])
    return ctypes.CDLL(library)


def link(compiler, flags, folder):
    """Link a library with flags, as the framework links its modules; return None.

    If that fails, return the linker's message. Raises NoCompilerError.
    """
    source = os.path.join(folder, "link.c")
    with open(source, "w") as file:
        file.write('extern "C" void dgemm_(void);\nvoid (*function)(void) = dgemm_;\n')
    try:
        words = shlex.split(flags)
    except ValueError as error:
        return str(error)
    # `-x none`: the flags may name files of libraries.
    done = _compile(compiler, [source, "-x", "none", "-o", os.path.join(folder, "link.so")] + words)
    if done.status == 0:
        return None
    lines = done.output.strip().splitlines() or ["the linker failed"]
    return next((line for line in lines if "cannot find" in line), lines[0])


def _compile(compiler, words):
    if not compiler:
        raise NoCompilerError("the framework has no C++ compiler")
    command = shlex.split(compiler) if not os.path.exists(compiler) else [compiler]
    try:
        return process.call(command + ["-shared", "-fPIC", "-x", "c++"] + words, 60)
    except OSError as error:
        raise NoCompilerError("%s: %s" % (command[0], error.strerror))
