import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY
from stacks.variants.variant import ACCELERATOR, SCAN_FIX

Load = Callable[..., Any]
# What the accelerator imports of other packages: modules, each after its package.
MODULES = {
    "theano": "configparser compile gof misc scalar scan_module tensor",
    "theano.compile": "function_module mode profiling",
    "theano.gof": "cc cmodule fg graph op opt toolbox type utils vm",
    "theano.misc": "frozendict ordered_set",
    "theano.scalar": "basic",
    "theano.scan_module": "scan_op scan_opt scan_utils",
    "theano.tensor": "basic subtensor type type_other",
}
STUBS = ["numpy", "theano"]
STUBS += [f"{package}.{name}" for package, names in MODULES.items() for name in names.split()]


class Stub(ModuleType):
    """A module that has an empty class of each name that is not set."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, type(name, (), {}))
        return getattr(self, name)


@pytest.fixture
def patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Give a function that a program's module has."""
    program = ModuleType("program_of_a_user")
    program.__file__ = str(tmp_path / "program.py")
    monkeypatch.setitem(sys.modules, program.__name__, program)
    exec("def patch(): pass", vars(program))
    function: Callable[[], None] = program.patch
    return function


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Give the function that imports a module of the accelerator, with stubs of NumPy and Theano.

    Keywords are what the stubs have, their names with _ for each dot.
    """
    for package in (ACCELERATOR, SCAN_FIX):
        monkeypatch.syspath_prepend(REPOSITORY / "recipes" / package / "src")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in [name for name in sys.modules if name.startswith("theano_stacks_")]:
        monkeypatch.delitem(sys.modules, name)

    def make(name: str, **attributes: dict[str, object]) -> Any:
        for stub in STUBS:
            module = Stub(stub)
            vars(module).update(attributes.get(stub.replace(".", "_"), {}))
            monkeypatch.setitem(sys.modules, stub, module)
            parent, _, child = stub.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, module)
        made = importlib.import_module(name)
        for loaded in [name for name in sys.modules if name.startswith("theano_stacks_")]:
            # Registered with monkeypatch, so that no other test finds it.
            monkeypatch.setitem(sys.modules, loaded, sys.modules.pop(loaded))
        return made

    return make
