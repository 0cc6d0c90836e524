"""Shorten Theano's compilation, and its calls.

In force from `import theano` on, without a change in the program; THEANO_STACKS_QUICK=0 turns all
of it off.

- theano_stacks_compiler compiles the C++ modules.
- theano_stacks_scan makes the gradients of scans smaller.
- theano_stacks_replaced keeps replaced scans out of the graphs of Theano 0.8.2.
- theano_stacks_aliases finds the outputs of Theano 0.8.2 that must be copied.
- theano_stacks_ops gives operations C code that Theano runs in Python.
- theano_stacks_cache keeps optimised graphs for the next start, theano_stacks_links their modules.
- theano_stacks_refresh lets programs that start at once share a compile folder.
- The garbage collector runs less often while a function is made: each run visits the whole graph
  and frees little.
"""

import gc
import importlib
import os
import sys

# The collector's first threshold, in new objects. Python's own is 700.
OBJECTS = 200000


def watch():
    """Patch Theano as soon as it is imported; import nothing of it now."""
    if os.environ.get("THEANO_STACKS_QUICK") != "0":
        sys.meta_path.insert(0, _Theano())


class _Theano(object):
    """A finder on sys.meta_path that leaves when Theano is imported."""

    def find_module(self, name, path=None):
        """Return this finder for Theano (Python 2)."""
        return self if name == "theano" else None

    def load_module(self, name):
        """Import Theano, patch it, return it (Python 2)."""
        sys.meta_path.remove(self)
        module = __import__(name)
        _fix_or_warn()
        return module

    def find_spec(self, name, path=None, target=None):
        """Return Theano's own spec, with the patch at the end of its import (Python 3)."""
        if name != "theano":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        try:
            spec = find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_fix(module):
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                run(module)
                _fix_or_warn()

            spec.loader.exec_module = run_and_fix
        return spec


def _fix_or_warn():
    try:
        fix()
    except Exception as error:
        # Another Theano may be installed here: it stays as it is.
        sys.stderr.write("theano_stacks_quick is not in force: %r\n" % (error,))


def fix():
    """Patch Theano, which has been imported."""
    from theano import __version__
    from theano.compile import function_module

    import theano_stacks_compiler
    import theano_stacks_refresh

    theano_stacks_compiler.fix()
    theano_stacks_refresh.fix()
    maker = function_module.FunctionMaker
    maker.__init__ = _with_less_collection(maker.__init__)
    maker.create = _with_less_collection(maker.create)
    is_old = __version__.split(".")[:2] == ["0", "8"]
    # These patch Theano when they are imported. The cache's key has those that are.
    old = ("replaced", "aliases") if is_old else ()
    for name in ("ops", "scan") + old + ("cache",):
        importlib.import_module("theano_stacks_" + name)


def _with_less_collection(make):
    def wrapper(self, *positional, **named):
        thresholds = gc.get_threshold()
        gc.set_threshold(max(thresholds[0], OBJECTS) if thresholds[0] else 0, *thresholds[1:])
        try:
            return make(self, *positional, **named)
        finally:
            gc.set_threshold(*thresholds)

    return wrapper
