"""Has Theano compile functions in less time; graphs and results stay as they are.

It is in force from `import theano` on, without a word in the program. THEANO_STACKS_QUICK=0 leaves
Theano as it is.

- C++ modules are compiled as theano_stacks_compiler has it.
- Python looks for garbage less often while a graph is optimised: each search goes through the
  whole graph, and finds little.
- Theano 0.8.2 spells out the name of each fused operation when it is made; here as Theano 1.0.5
  does, when somebody asks for it.
"""

import gc
import os
import sys

# So many new objects bring about a search, in place of 700.
OBJECTS = 200000


def watch():
    """Have Theano fixed as soon as it is imported. Imports nothing of it itself."""
    if os.environ.get("THEANO_STACKS_QUICK") != "0":
        sys.meta_path.insert(0, _Theano())


class _Theano(object):
    """Stands on sys.meta_path until Theano is imported."""

    def find_module(self, name, path=None):
        """Return itself for Theano, on Python 2."""
        return self if name == "theano" else None

    def load_module(self, name):
        """Import Theano, fix it, return it, on Python 2."""
        sys.meta_path.remove(self)
        module = __import__(name)
        _fix_or_say()
        return module

    def find_spec(self, name, path=None, target=None):
        """Return Theano's own spec, with what fixes it at the end of its import, on Python 3."""
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
                _fix_or_say()

            spec.loader.exec_module = run_and_fix
        return spec


def _fix_or_say():
    try:
        fix()
    except Exception as error:
        # Another Theano may have been installed here: it is used as it is.
        sys.stderr.write("theano_stacks_quick is not in force: %r\n" % (error,))


def fix():
    """Fix Theano, which has been imported."""
    from theano.compile import function_module

    import theano_stacks_compiler

    theano_stacks_compiler.fix()
    maker = function_module.FunctionMaker
    maker.__init__ = _with_less_searching(maker.__init__)
    if sys.version_info[0] == 2:
        _name_later()


def _with_less_searching(make):
    def __init__(self, *positional, **named):
        often = gc.get_threshold()
        gc.set_threshold(max(often[0], OBJECTS) if often[0] else 0, *often[1:])
        try:
            make(self, *positional, **named)
        finally:
            gc.set_threshold(*often)

    return __init__


def _name_later():
    from theano.scalar.basic import Composite

    spell = Composite.init_name

    class Unnamed(object):
        """Stands for an operation whose name is being spelled out: it has none yet."""

    def __getattr__(self, name):
        if name != "name":
            raise AttributeError(name)
        unnamed = Unnamed()
        unnamed.fgraph = self.fgraph
        spell.__func__(unnamed)
        self.name = unnamed.name
        return self.name

    def init_name(self):
        pass

    Composite.__getattr__, Composite.init_name = __getattr__, init_name
