"""Has Theano's C++ modules compiled in less time, to the same machine code.

- One that another environment has compiled from the same inputs is taken (theano_stacks_sharing).
- The headers that all of them begin with are compiled once, into the compile folder.
- They carry no debug information, unless gcc.cxxflags asks for -g.
- As many are compiled at once as there are processors: when a function is linked, those that it
  lacks are begun, and Theano waits for each where it would have compiled it.
"""

import atexit
import hashlib
import multiprocessing.pool
import os
import shutil
import subprocess
import sys
import tempfile

import numpy
import theano
from theano import scalar
from theano.gof import cc, cmodule, fg, graph, op, vm

from theano_stacks_sharing import SHARED

HEADERS = """\
#include <Python.h>
#include <iostream>
#include "theano_mod_helper.h"
#include <math.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
"""
FOLDER = "theano_stacks_headers"
FOREVER = 10**6
COMPILE = cmodule.GCC_compiler.compile_str
MAKE_ALL = vm.VM_Linker.make_all


def _cores():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return multiprocessing.cpu_count()


class Headers(object):
    """The precompiled headers, one for each set of options that comes more than once."""

    def __init__(self):
        self.known = {}

    def words(self, source, preargs, include_dirs):
        """Return the options that have the compiler take them for a module's source."""
        if not source.startswith(HEADERS):
            return []
        options = tuple(preargs), tuple(include_dirs)
        if options not in self.known and not os.path.isfile(self._place(*options) + ".gch"):
            # A single module with options of its own is compiled sooner without.
            self.known[options] = None
            return []
        if self.known.get(options) is None:
            self.known[options] = self._made(*options)
        return self.known[options]

    def _place(self, preargs, include_dirs):
        means = [sys.version, numpy.__version__, theano.__version__, cmodule.gcc_version()]
        means += [theano.config.cxx, preargs, include_dirs, cmodule.std_include_dirs(), HEADERS]
        name = hashlib.sha256(repr(means).encode("utf-8")).hexdigest()[:16]
        return os.path.join(str(theano.config.compiledir), FOLDER, name, "headers.h")

    def _made(self, preargs, include_dirs):
        """Return the options; none where it cannot be compiled.

        It is renamed into place, so a header is whole or not there. The compiler itself checks
        that it fits the options of a module, and where it does not reads the text.
        """
        place = self._place(preargs, include_dirs)
        words = ["-include", place]
        if os.path.isfile(place + ".gch"):
            return words
        part = "%s.%d" % (place, os.getpid())
        command = [theano.config.cxx, "-fvisibility=hidden", "-x", "c++-header", part + ".h"]
        command += ["-g"] + list(preargs) + ["-o", part + ".gch"]
        for folder in list(include_dirs) + cmodule.std_include_dirs():
            if folder:
                command.append("-I" + folder)
        try:
            if not os.path.isdir(os.path.dirname(place)):
                os.makedirs(os.path.dirname(place))
            with open(part + ".h", "w") as file:
                file.write(HEADERS)
            with open(os.devnull, "w") as nothing:
                subprocess.check_call(command, stdout=nothing, stderr=nothing)
            os.rename(part + ".h", place)
            os.rename(part + ".gch", place + ".gch")
        except (OSError, IOError, subprocess.CalledProcessError):
            return []
        return words


class Ahead(object):
    """Modules that are compiled before Theano asks for them."""

    def __init__(self):
        self.process = None
        self.pool = None
        self.folder = None
        self.begun = {}

    def begin(self, words):
        """Compile a module in the background; `words` are compile_str's, but for the place."""
        key = SHARED.key(words)
        if SHARED.has(key):
            return
        if self.process != os.getpid():
            self._start()
        if words not in self.begun:
            place = os.path.join(self.folder, str(len(os.listdir(self.folder))))
            os.mkdir(place)
            quicker = _quicker(words, key)
            job = self.pool.apply_async(_compile_in, (place, quicker, key))
            self.begun[words] = job, quicker

    def _start(self):
        """Take on compilers. A process that was forked has none of those of its parent."""
        self.process, self.begun = os.getpid(), {}
        self.folder = tempfile.mkdtemp(prefix="theano-stacks-")
        self.pool = multiprocessing.pool.ThreadPool(_cores())
        atexit.register(_end, self.pool, self.folder, self.process)

    def take(self, words, location, key):
        """Bring a module's files to their place; False where it was not begun, or failed."""
        nothing = None, None
        job, quicker = self.begun.pop(words, nothing) if self.process == os.getpid() else nothing
        # Without a number Python 2 would not hear of a ctrl-C before it is done.
        place = job.get(FOREVER) if job else None
        if place is None:
            return False
        SHARED.keep(key, words, place, _header(quicker))
        for name in os.listdir(place):
            shutil.move(os.path.join(place, name), os.path.join(location, name))
        return True


def _end(pool, folder, process):
    if process == os.getpid():
        pool.terminate()
        shutil.rmtree(folder, True)


def _compile_in(place, words, key):
    try:
        _compile(words, place, key)
    except Exception:
        # Theano compiles it again, and tells what is wrong with it.
        return None
    return place


def _compile(words, location, key, hidden=True):
    """Call the compiler as Theano does; `words` are _quicker's."""
    lists = [list(each) for each in words[2:]]
    lists[-1] += SHARED.place(key, words[0], location)
    COMPILE(words[0], words[1], location, *lists + [False, hidden])


HEADERS_OF, AHEAD = Headers(), Ahead()


def compile_str(
    module_name,
    src_code,
    location=None,
    include_dirs=None,
    lib_dirs=None,
    libs=None,
    preargs=None,
    py_module=True,
    hide_symbols=True,
):
    """Stand for GCC_compiler.compile_str: the same in and out."""
    words = _words(module_name, src_code, include_dirs, lib_dirs, libs, preargs)
    key = SHARED.key(words, hide_symbols) if py_module else None
    ahead = py_module and hide_symbols
    if not (SHARED.take(key, words, location) or (ahead and AHEAD.take(words, location, key))):
        quicker = _quicker(words, key)
        _compile(quicker, location, key, hide_symbols)
        SHARED.keep(key, words, location, _header(quicker))
    if not py_module:
        return None
    open(os.path.join(location, "__init__.py"), "w").close()
    return cmodule.dlimport(
        os.path.join(location, "%s.%s" % (module_name, cmodule.get_lib_extension()))
    )


def _words(module_name, src_code, *lists):
    return (module_name, src_code) + tuple(tuple(each or ()) for each in lists)


def _quicker(words, key):
    """Return what compile_str is given, with the options that make it take less time."""
    source, include_dirs, preargs = words[1], words[2], words[5]
    if "-g" not in preargs:
        preargs += ("-g0",)
    preargs += SHARED.maps(key)
    return words[:5] + (preargs + tuple(HEADERS_OF.words(source, preargs, include_dirs)),)


def _header(quicker):
    """Return the precompiled header in what _quicker has returned, None where there is none."""
    options = quicker[5]
    return options[-1] if options[-2:-1] == ("-include",) else None


def make_all(self, *positional, **named):
    """Stand for VM_Linker.make_all: begin what has to be compiled, then go on as ever."""
    if getattr(self, "c_thunks", None) is not False and theano.config.cxx and not _importing():
        _begin_all(self.fgraph)
    return MAKE_ALL(self, *positional, **named)


def _importing():
    """Say whether Python 2's one lock on imports is held: threads might wait for it forever."""
    if sys.version_info[0] > 2:
        return False
    import imp

    return imp.lock_held()


def _begin_all(function_graph):
    seen = set()
    for node in function_graph.toposort():
        kind = (node.op,) + tuple(_kind(each, node.inputs) for each in node.inputs)
        if kind in seen or not _is_plain(node.op):
            continue
        seen.add(kind)
        try:
            _begin(cc.CLinker().accept(fg.FunctionGraph(node.inputs, node.outputs)))
        except Exception:  # noqa: S112 - Theano itself comes to it, and tells of it
            continue


def _kind(variable, inputs):
    """Return what a module's source has of an input; numbers that are constants stand in it."""
    number = isinstance(variable, graph.Constant) and isinstance(variable.type, scalar.Scalar)
    return variable.type, inputs.index(variable), str(variable.data) if number else None


def _is_plain(kind):
    """Say whether an op is linked in the ordinary way: scans are functions of their own."""
    method = getattr(type(kind), "make_thunk", None)
    function = getattr(method, "__func__", method)
    plain = op.Op.make_thunk
    return function is getattr(plain, "__func__", plain) and getattr(kind, "_op_use_c_code", True)


def _begin(linker):
    key = linker.cmodule_key()
    cache = cc.get_module_cache()
    if key in cache.entry_from_key:
        return
    source = linker.get_src_code()
    if cmodule.get_module_hash(source, key) in cache.module_hash_to_key_data:
        return
    AHEAD.begin(
        _words(
            linker.get_dynamic_module().code_hash,
            source,
            linker.header_dirs(),
            linker.lib_dirs(),
            linker.libraries(),
            linker.compile_args(),
        )
    )


def fix():
    """Have Theano compile by this module from here on."""
    cmodule.GCC_compiler.compile_str = staticmethod(compile_str)
    vm.VM_Linker.make_all = make_all
