"""Profile or time a person's own program, which is not edited: `profile`, `bench ... -- CMD`.

This folder is first on PYTHONPATH, so every Python of the program imports this module at its start;
the environment's or the person's own sitecustomize follows. Each process that compiles functions
writes a report of its own when it ends: by its last line, sys.exit or an exception, as the child of
a fork or of multiprocessing; not where a signal or os._exit kills it.
"""

from __future__ import absolute_import, division, print_function

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FRAMEWORKS = ("theano", "aesara", "pytensor")


class _Observer(object):
    """A finder that finds nothing: it looks for a module of the framework at each import.

    names: of the module, within the framework. attribute: the module's last, so that it is whole.
    act: what is called once, with the framework's name and the module.
    """

    def __init__(self, names, attribute, act):
        self._names, self._attribute, self._act = names, attribute, act
        self._has_seen = False

    def find_module(self, name, path=None):
        """Find nothing (Python 2)."""
        self._look()

    def find_spec(self, name, path=None, target=None):
        """Find nothing (Python 3)."""
        self._look()

    def _look(self):
        # Python 2 reads sys.meta_path by index at this moment, so this finder stays in it.
        if self._has_seen:
            return
        for framework in FRAMEWORKS:
            for name in self._names:
                module = sys.modules.get(framework + name)
                if hasattr(module, self._attribute):
                    self._has_seen = True
                    self._act(framework, module)
                    return


def _collect(framework, module):
    # The framework prints its profiles at the end, unless it believes that it registered this.
    module._atexit_registered = True
    folder = os.environ["THEANO_STACKS_PROFILE"]
    _suite_module().Collector(framework, module, folder).follow()


def _time(_, module):
    _suite_module().watch(module, os.environ["THEANO_STACKS_TIMES"])


def _suite_module():
    """Import the module of the suite, whose folder is not on the program's path."""
    folder = os.path.dirname(HERE)
    sys.path.insert(0, folder)
    try:
        return __import__("theano_stacks_program")
    finally:
        sys.path.remove(folder)


def _chain():
    """Import the sitecustomize that this one hides."""
    path = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    own = sys.modules.pop("sitecustomize", None)
    sys.path[:] = path
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if "sitecustomize" not in str(error):
            raise
    finally:
        if own is not None:
            sys.modules.setdefault("sitecustomize", own)


if os.environ.get("THEANO_STACKS_PROFILE"):
    PROFILES = [".compile.profiling", ".compile.debug.profiling"]
    sys.meta_path.insert(0, _Observer(PROFILES, "ProfileStats", _collect))
if os.environ.get("THEANO_STACKS_TIMES"):
    MAKERS = [".compile.function_module", ".compile.function.types", ".compile.maker"]
    sys.meta_path.insert(0, _Observer(MAKERS, "FunctionMaker", _time))
_chain()
