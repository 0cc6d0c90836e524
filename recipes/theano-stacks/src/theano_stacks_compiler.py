"""Compile Theano's C++ modules in less time, to the same machine code.

- A module that another environment compiled from the same inputs is taken (theano_stacks_sharing).
- The headers that every module begins with are compiled once (theano_stacks_headers).
- Modules carry no debug information, unless gcc.cxxflags has -g.
- One compiler per processor runs at once, at most eight: when a function is linked, its missing
  modules start to compile in the background, and Theano waits for each where it would have
  compiled it.
"""

from __future__ import print_function

import itertools
import logging
import multiprocessing.pool
import multiprocessing.util
import os
import shutil
import sys
import tempfile
import threading

import theano
from theano import scalar
from theano.gof import cc, cmodule, fg, op, vm
from theano.gof.graph import Constant

from theano_stacks_headers import HEADERS
from theano_stacks_sharing import SHARED

# Seconds. Python 2 does not react to ctrl-C in a wait without a limit.
FOREVER = 10**6
COMPILE = cmodule.GCC_compiler.compile_str
MAKE_ALL = vm.VM_Linker.make_all
# Compilers at once: Theano writes no more sources meanwhile, and each takes 70 MB of a container.
MOST = 8
THREAD = threading.local()
LOGGER = logging.getLogger("theano.stacks_compiler")


def _compilers():
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = multiprocessing.cpu_count()
    return min(cores, MOST)


class Background(object):
    """Modules that compile before Theano needs them."""

    def __init__(self):
        self.process = None
        self.pool = None
        self.folder = None
        self.jobs = {}

    def begin(self, arguments):
        """Start to compile a module; `arguments` are compile_str's without the location."""
        key = SHARED.key(arguments)
        if self.process != os.getpid() or not os.path.isdir(self.folder):
            self._start()
        if arguments not in self.jobs:
            location = tempfile.mkdtemp(dir=self.folder)
            faster = _faster(arguments, key)
            job = self.pool.apply_async(_compile_in, (location, faster, key))
            self.jobs[arguments] = job, faster

    def _start(self):
        """Start the threads; a forked process has none of its parent's."""
        self.folder, self.jobs = tempfile.mkdtemp(prefix="theano-stacks-"), {}
        if self.process != os.getpid():
            self.pool = multiprocessing.pool.ThreadPool(
                _compilers(), setattr, (THREAD, "silent", True)
            )
            self.process = os.getpid()
        # Not atexit, which the workers of multiprocessing do not reach.
        ending = (self.pool, self.folder, self.process)
        multiprocessing.util.Finalize(None, _end, ending, exitpriority=0)

    def take(self, arguments, location, key):
        """Move a module's files to `location`; False where it was not begun, or failed."""
        nothing = None, None
        job, faster = self.jobs.pop(arguments, nothing) if self.process == os.getpid() else nothing
        folder = job.get(FOREVER) if job else None
        if folder is None:
            return False
        SHARED.keep(key, arguments, folder, _header(faster))
        for name in os.listdir(folder):
            shutil.move(os.path.join(folder, name), os.path.join(location, name))
        return True


def _end(pool, folder, process):
    if process == os.getpid():
        pool.terminate()
        shutil.rmtree(folder, True)


def _compile_in(location, arguments, key):
    try:
        _compile(arguments, location, key)
    except Exception:
        # Theano compiles it again, and reports the error.
        return None
    return location


def _print(*words, **options):
    """Replace cmodule's `print`: what fails in the background is told when Theano compiles it."""
    if not getattr(THREAD, "silent", False):
        print(*words, **options)


def _compile(arguments, location, key, hidden=True):
    """Call the compiler as Theano does; `arguments` are those of _faster."""
    lists = [list(each) for each in arguments[2:]]
    lists[-1] += SHARED.location_options(key, arguments[0], location)
    COMPILE(arguments[0], arguments[1], location, *lists + [False, hidden])


BACKGROUND = Background()


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
    """Replace GCC_compiler.compile_str: same arguments, same result."""
    arguments = _arguments(module_name, src_code, include_dirs, lib_dirs, libs, preargs)
    key = SHARED.key(arguments, hide_symbols) if py_module else None
    background = py_module and hide_symbols
    if not (
        SHARED.take(key, arguments, location)
        or (background and BACKGROUND.take(arguments, location, key))
    ):
        faster = _faster(arguments, key)
        _compile(faster, location, key, hide_symbols)
        SHARED.keep(key, arguments, location, _header(faster))
    if not py_module:
        return None
    open(os.path.join(location, "__init__.py"), "w").close()
    return cmodule.dlimport(
        os.path.join(location, "%s.%s" % (module_name, cmodule.get_lib_extension()))
    )


def _arguments(module_name, src_code, *lists):
    return (module_name, src_code) + tuple(tuple(each or ()) for each in lists)


def _faster(arguments, key):
    """Return compile_str's arguments with the options that make it take less time."""
    source, include_dirs, preargs = arguments[1], arguments[2], arguments[5]
    if "-g" not in preargs:
        preargs += ("-g0",)
    preargs += SHARED.path_options(key)
    return arguments[:5] + (preargs + tuple(HEADERS.options(source, preargs, include_dirs)),)


def _header(faster):
    """Return the precompiled header in the arguments of _faster, None where there is none."""
    options = faster[5]
    return options[-1] if options[-2:-1] == ("-include",) else None


def make_all(self, *positional, **named):
    """Replace VM_Linker.make_all: start to compile missing modules, then do what it does."""
    is_c = getattr(self, "c_thunks", None) is not False and theano.config.cxx
    # Theano prints the warnings, which nobody would see of a compiler in the background.
    if is_c and not theano.config.cmodule.compilation_warning and not _importing():
        # In 1.0.5 the virtual machine takes such arrays away from the modules.
        returned = self.no_recycling if theano.__version__.startswith("0.8.") else ()
        _begin_all(self.fgraph, frozenset(returned))
    return MAKE_ALL(self, *positional, **named)


def _importing():
    """Return whether Python 2's global import lock is held: threads might wait for it forever."""
    if sys.version_info[0] > 2:
        return False
    import imp

    return imp.lock_held()


def _begin_all(function_graph, returned_variables):
    """Start to compile a graph's missing modules.

    returned_variables: those whose arrays a module does not write into again.
    """
    done, missing = set(), []
    links = getattr(function_graph, "theano_stacks_links", None)
    if links is not None and all(links.has(node) for node in function_graph.apply_nodes):
        return
    for node in function_graph.toposort():
        if links is not None and links.has(node):
            continue
        returned = [each in returned_variables for each in node.outputs]
        kind = (node.op, tuple(returned)) + tuple(_kind(each, node.inputs) for each in node.inputs)
        if kind in done or not _is_plain(node.op):
            continue
        done.add(kind)
        try:
            graph = fg.FunctionGraph(node.inputs, node.outputs)
            outputs = list(itertools.compress(graph.outputs, returned))
            missing += _missing(cc.CLinker().accept(graph, outputs))
        except Exception:  # noqa: S112 - Theano compiles it later, and reports the error
            continue
    # Theano itself compiles a single one at once.
    try:
        for arguments in missing if len(missing) > 1 else ():
            BACKGROUND.begin(arguments)
    except Exception:
        # No space, or no more threads: Theano compiles the others one by one.
        LOGGER.info("not compiled in the background", exc_info=True)


def _kind(variable, inputs):
    """Return what a module's source contains of an input; it contains constant numbers."""
    number = isinstance(variable, Constant) and isinstance(variable.type, scalar.Scalar)
    return variable.type, inputs.index(variable), str(variable.data) if number else None


def _is_plain(kind):
    """Return whether an op is linked in the ordinary way; scans are functions of their own."""
    method = getattr(type(kind), "make_thunk", None)
    function = getattr(method, "__func__", method)
    plain = op.Op.make_thunk
    return function is getattr(plain, "__func__", plain) and getattr(kind, "_op_use_c_code", True)


def _missing(linker):
    """Return the arguments of a module that is neither compiled nor shared, as a list of one."""
    key = linker.cmodule_key()
    cache = cc.get_module_cache()
    if key in cache.entry_from_key:
        return []
    source = linker.get_src_code()
    if cmodule.get_module_hash(source, key) in cache.module_hash_to_key_data:
        return []
    arguments = _arguments(
        linker.get_dynamic_module().code_hash,
        source,
        linker.header_dirs(),
        linker.lib_dirs(),
        linker.libraries(),
        linker.compile_args(),
    )
    return [] if SHARED.has(SHARED.key(arguments)) else [arguments]


def fix():
    """Make Theano compile through this module from now on."""
    cmodule.GCC_compiler.compile_str = staticmethod(compile_str)
    cmodule.print = _print
    vm.VM_Linker.make_all = make_all
