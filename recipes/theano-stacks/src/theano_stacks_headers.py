"""The headers that every module of Theano begins with, compiled once, into the compile folder."""

import binascii
import hashlib
import os
import subprocess
import sys

import numpy
import theano
from theano.gof import cmodule

TEXT = """\
#include <Python.h>
#include <iostream>
#include "theano_mod_helper.h"
#include <math.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
"""
FOLDER = "theano_stacks_headers"


class Headers(object):
    """The precompiled headers, one for each set of options that is used more than once."""

    def __init__(self):
        self.known = {}

    def options(self, source, preargs, include_dirs):
        """Return the options that make the compiler use them for a module's source."""
        if not source.startswith(TEXT):
            return []
        use = tuple(preargs), tuple(include_dirs)
        if use not in self.known and not os.path.isfile(self._path(*use) + ".gch"):
            # A single module with options of its own compiles faster without.
            self.known[use] = None
            return []
        known = self.known.get(use)
        # A person may purge the compile folder while the program runs.
        if known is None or (known and not any(map(os.path.isfile, _files(known[-1])))):
            self.known[use] = self._compiled(*use)
        return self.known[use]

    def _path(self, preargs, include_dirs):
        inputs = [sys.version, numpy.__version__, theano.__version__, cmodule.gcc_version()]
        inputs += [theano.config.cxx, preargs, include_dirs, cmodule.std_include_dirs(), TEXT]
        name = hashlib.sha256(repr(inputs).encode("utf-8")).hexdigest()[:16]
        return os.path.join(str(theano.config.compiledir), FOLDER, name, "headers.h")

    def _compiled(self, preargs, include_dirs):
        """Compile the headers where missing; return the options, none where that fails.

        The file is renamed into place, so it is never half written. The compiler itself checks
        that the precompiled header fits a module's options, and else reads the text.
        """
        path = self._path(preargs, include_dirs)
        options = ["-include", path]
        if os.path.isfile(path + ".gch"):
            return options
        # Not the process's number: it is 1 in each of the containers that share a volume.
        part = "%s.%x" % (path, int(binascii.hexlify(os.urandom(8)), 16))
        command = [theano.config.cxx, "-fvisibility=hidden", "-x", "c++-header", part + ".h"]
        command += ["-g"] + list(preargs) + ["-o", part + ".gch"]
        for folder in list(include_dirs) + cmodule.std_include_dirs():
            if folder:
                command.append("-I" + folder)
        try:
            if not os.path.isdir(os.path.dirname(path)):
                os.makedirs(os.path.dirname(path))
            with open(part + ".h", "w") as file:
                file.write(TEXT)
            with open(os.devnull, "w") as null:
                subprocess.check_call(command, stdout=null, stderr=null)
            # After a power failure a file that was renamed may be cut off, and g++ then crashes.
            with open(part + ".gch", "rb") as file:
                os.fsync(file.fileno())
            os.rename(part + ".h", path)
            os.rename(part + ".gch", path + ".gch")
        except (OSError, IOError, subprocess.CalledProcessError):
            for name in filter(os.path.isfile, (part + ".h", part + ".gch")):
                os.remove(name)
            return []
        return options


def _files(path):
    return path, path + ".gch"


HEADERS = Headers()
