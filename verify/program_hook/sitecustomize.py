"""Profile a person's own program, which is not edited: `./invoke profile --variant V -- CMD`.

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
    """A finder that finds nothing: it looks for the framework's profiling module at each import."""

    def __init__(self):
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
            module = sys.modules.get(framework + ".compile.profiling")
            if hasattr(module, "ScanProfileStats"):
                self._has_seen = True
                _collect(framework, module)
                return


def _collect(framework, module):
    import atexit

    # The framework prints its profiles at the end, unless it believes that it registered this.
    module._atexit_registered = True

    folder = os.path.dirname(HERE)
    sys.path.insert(0, folder)
    try:
        import program_report
    finally:
        sys.path.remove(folder)
    collector = program_report.Collector(framework, module, os.environ["THEANO_STACKS_PROFILE"])
    atexit.register(collector.write)
    collector.follow_children()


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
    sys.meta_path.insert(0, _Observer())
_chain()
