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
# What the accelerator imports of other packages.
STUBS = (
    "numpy",
    "theano",
    "theano.configparser",
    "theano.compile",
    "theano.compile.function_module",
    "theano.compile.mode",
    "theano.compile.profiling",
    "theano.gof",
    "theano.gof.cc",
    "theano.gof.cmodule",
    "theano.gof.fg",
    "theano.gof.graph",
    "theano.gof.op",
    "theano.gof.opt",
    "theano.gof.toolbox",
    "theano.gof.type",
    "theano.gof.utils",
    "theano.gof.vm",
    "theano.misc",
    "theano.misc.frozendict",
    "theano.misc.ordered_set",
    "theano.scalar",
    "theano.scalar.basic",
    "theano.scan_module",
    "theano.scan_module.scan_op",
    "theano.scan_module.scan_opt",
    "theano.scan_module.scan_utils",
    "theano.tensor",
    "theano.tensor.basic",
    "theano.tensor.subtensor",
    "theano.tensor.type",
    "theano.tensor.type_other",
)

# What theano_stacks_links takes of Theano when it is imported.
REPLACED: dict[str, dict[str, object]] = {
    "theano_gof_cc": {"_CThunk": type("_CThunk", (), {"__init__": lambda self: None})},
    "theano_gof_cmodule": {
        "gcc_version": lambda: "12.2",
        "ModuleCache": type("ModuleCache", (), {"module_from_key": None}),
    },
    "theano_gof_op": {"Op": type("Op", (), {"make_c_thunk": None})},
}


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
