"""Compile, load and link C code with the framework's compiler; is a compiled file whole?

The compiler is a path, or a command with options, as the framework's flag `cxx` has it.
"""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import pkgutil
import shlex
import struct

from verify.core import process

# Seconds for one file.
LIMIT = 60
# elf(5): the identification of a 64-bit file, and the length of its header.
MAGIC, HEADER = b"\x7fELF\x02", 64


class NoCompilerError(Exception):
    """The C code cannot be compiled; the text says why."""


def load(compiler, source, folder):
    """Compile a C source file of the suite into a folder; return its ctypes library.

    source: (package of the suite, the file's name in it). Raises NoCompilerError.
    """
    path = os.path.join(folder, source[1])
    # The suite may be one file, a zip archive.
    with open(path, "wb") as file:
        file.write(pkgutil.get_data(*source))
    done = _compile(compiler, ["-O2", "-w", path, "-o", path + ".so"])
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
    done = _compile(compiler, [path, "-x", "none", "-o", path + ".so"] + words)
    if done.status == 0:
        return None
    lines = done.output.strip().splitlines() or ["the linker failed"]
    return next((line for line in lines if "cannot find" in line), lines[0])


def _compile(compiler, words):
    """Make a shared library; return the compiler's process.Done."""
    if not compiler:
        raise NoCompilerError("the framework has no C++ compiler")
    command = shlex.split(compiler) if not os.path.exists(compiler) else [compiler]
    try:
        return process.call(command + ["-shared", "-fPIC", "-x", "c++"] + words, LIMIT)
    except OSError as error:
        raise NoCompilerError("%s: %s" % (command[0], error.strerror))


def is_cut_off(path):
    """Return whether a file is shorter than its own header says; None if it is no 64-bit ELF."""
    try:
        with open(path, "rb") as file:
            header = file.read(HEADER)
        size = os.path.getsize(path)
    except EnvironmentError:
        return None
    if len(header) < HEADER or not header.startswith(MAGIC):
        return None
    # e_shoff, e_shentsize and e_shnum: the table of sections, which linkers write last.
    (start,), (length, count) = (
        struct.unpack_from("<Q", header, 40),
        struct.unpack_from("<HH", header, 58),
    )
    return size < start + length * count
