"""Which code is Theano's own: it is known by its name, as versions and files stand for it.

A graph with anything else in it is not kept. A program's code may do something else in the next
start, and its objects may change after the function is compiled. Needs no Theano.
"""

import os
import sys

PY2 = sys.version_info[0] == 2
PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, type(Ellipsis))
if PY2:
    PLAIN += (long, unicode)  # noqa: F821
# Types of which repr says all.
EXACT = frozenset(PLAIN) - {slice}
# Packages whose version, or whose files' hash, stands for their code.
VERSIONED = ("theano", "numpy", "scipy", "six", "pygpu")
# The file of functions that NumPy 1.17 to 1.24 makes of others; they have no module.
OF_NUMPY = "<__array_function__ internals>"
LIBRARY = os.path.dirname(os.path.abspath(os.__file__))
# {(path of a module, LIBRARY): whether it is a program's}
_places = {}


class UnknownError(Exception):
    """A value whose content cannot be hashed."""


def is_of_program(name):
    """Return whether a module is neither Theano's, nor the accelerator's, nor Python's own."""
    if name in ("__main__", "__mp_main__"):
        # Under `python -m cProfile train.py` its file is cProfile's.
        return True
    top = (name or "").split(".")[0]
    if top in VERSIONED or top.startswith("theano_stacks_"):
        return False
    path = getattr(sys.modules.get(name), "__file__", None)
    if path is None:
        return name not in sys.builtin_module_names
    place = path, LIBRARY
    if place not in _places:
        _places[place] = _is_outside(path)
    return _places[place]


def _is_outside(path):
    folder = os.path.dirname(os.path.abspath(path))
    if not (folder + os.sep).startswith(LIBRARY + os.sep):
        return True
    return any(part.endswith("-packages") for part in folder[len(LIBRARY) :].split(os.sep))


def is_function_of_program(function):
    """Return the same of the module in which a function was written, whatever it says itself."""
    if function.__code__.co_filename == OF_NUMPY:
        return False
    return is_of_program(function.__globals__.get("__name__"))


def name_of(value):
    """Return (module, name) of a function or class; raises UnknownError if it is a program's."""
    name = getattr(value, "__qualname__", value.__name__)
    module = getattr(value, "__module__", None)
    module = module or getattr(value, "__objclass__", type(value)).__module__
    if is_of_program(module):
        raise UnknownError("%s.%s is a program's" % (module, name))
    return module, name


def has_own_state(value):
    """Return whether Theano's objects of this type have all that they are in their __dict__."""
    top = type(value).__module__.split(".")[0]
    return top == "theano" or top.startswith("theano_stacks_")
