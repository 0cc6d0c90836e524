"""A hash of functions and classes: Theano's by name, a program's with all that their code names.

Needs no Theano.
"""

import hashlib
import os
import sys
import types

PY2 = sys.version_info[0] == 2
PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, type(Ellipsis))
if PY2:
    PLAIN += (long, unicode)  # noqa: F821
# Packages whose version, or whose files' hash, stands for their code.
VERSIONED = ("theano", "numpy", "scipy", "six", "pygpu")
BUILT_IN = ("builtins", "__builtin__")
LIBRARY = os.path.dirname(os.path.abspath(os.__file__))
# What every class has.
OF_CLASSES = ("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__slots__")
OF_CLASSES += ("__firstlineno__", "__static_attributes__", "__annotations__", "__metaclass__")


class UnknownError(Exception):
    """A value whose content cannot be hashed."""


def is_of_program(name):
    """Return whether a module is neither Theano's, nor the accelerator's, nor Python's own."""
    top = (name or "").split(".")[0]
    if top in VERSIONED + BUILT_IN or top.startswith("theano_stacks_"):
        return False
    path = getattr(sys.modules.get(name), "__file__", None)
    if path is None:
        return top == "__main__"
    folder = os.path.dirname(os.path.abspath(path))
    within = (folder + os.sep).startswith(LIBRARY + os.sep)
    return not within or any(part.endswith("-packages") for part in folder.split(os.sep))


class CodeDescription(object):
    """A hash of functions and classes; subclasses add other values.

    modules: the names of those that the code comes from; of_program: whether any is a program's.
    """

    def __init__(self):
        self.hash = hashlib.sha256()
        self.modules = set()
        self.of_program = False
        self.known = {}

    def add(self, *words):
        """Add numbers and text."""
        self.hash.update((repr(words) + "\n").encode("utf-8"))

    def value(self, value):
        """Add any value; raises UnknownError where its content cannot be hashed."""
        raise NotImplementedError

    def part(self):
        """Return an empty description of the same kind."""
        raise NotImplementedError

    def unordered(self, items):
        """Add values whose order does not count."""
        hashes = []
        for item in items:
            part = self.part()
            part.known = dict(self.known)
            part.value(item)
            self.modules |= part.modules
            self.of_program |= part.of_program
            hashes.append(part.hash.hexdigest())
        self.add("unordered", sorted(hashes))

    def by_name(self, value):
        """Add the name of a function or class and that of its module."""
        name = getattr(value, "__qualname__", value.__name__)
        module = getattr(value, "__module__", None)
        module = module or getattr(value, "__objclass__", type(value)).__module__
        self.modules.add(module)
        self.add("named", module, name)

    def function(self, function):
        """Add a function; what it takes from around it belongs to it."""
        if self._is_known(function):
            return
        self.by_name(function)
        self.add("code", function.__code__.co_code)
        for cell in function.__closure__ or ():
            # ValueError where a variable has no value yet.
            self.value(cell.cell_contents)
        if is_of_program(function.__globals__.get("__name__")):
            self.of_program = True
            self.value(function.__defaults__)
            self.value(getattr(function, "__kwdefaults__", None))
            self._code(function.__code__, function.__globals__)

    def _is_known(self, value):
        if id(value) in self.known:
            self.add("known", self.known[id(value)])
            return True
        self.known[id(value)] = len(self.known)
        return False

    def _code(self, code, names):
        """Add code, and the values that it may take from its module."""
        self.add(code.co_code, code.co_names, code.co_varnames, code.co_freevars)
        for each in code.co_consts:
            if isinstance(each, types.CodeType):
                self._code(each, names)
            else:
                self.value(each)
        for name in sorted(set(code.co_names) & set(names)):
            self.add("global", name)
            value = names[name]
            if isinstance(value, types.ModuleType):
                self.add(value.__name__)
            else:
                self.value(value)

    def of_class(self, of_class):
        """Add a class; a program's with its methods and attributes, which it may change."""
        if not is_of_program(of_class.__module__):
            self.by_name(of_class)
            return
        if self._is_known(of_class):
            return
        self.of_program = True
        self.by_name(of_class)
        for base in of_class.__bases__:
            self.of_class(base)
        for name, value in sorted(vars(of_class).items()):
            if name not in OF_CLASSES:
                self.add("attribute", name)
                self._member(value)

    def _member(self, value):
        if isinstance(value, (staticmethod, classmethod)):
            self.value(value.__func__)
        elif isinstance(value, property):
            for each in (value.fget, value.fset, value.fdel):
                self.value(each)
        elif isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)):
            self.add("slot")
        else:
            self.value(value)
