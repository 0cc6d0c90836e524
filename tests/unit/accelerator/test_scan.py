"""Patches of Theano, on plain objects and on another package of that name in its place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY
from unit.accelerator.conftest import Load


class Scan:
    """A scan."""


class Variable:
    """A variable of a graph, as far as the module looks at it."""

    def __init__(self, owner: Node | None = None) -> None:
        self.owner = owner


class Node:
    """One operation."""

    def __init__(self, op: object, inputs: list[Variable], outputs: int = 1) -> None:
        self.op, self.inputs = op, inputs
        self.outputs = [Variable(self) for _ in range(outputs)]

    def clone_with_new_inputs(self, inputs: list[Variable]) -> Node:
        return Node(self.op, inputs, len(self.outputs))


class Graph:
    """A FunctionGraph."""

    def __init__(self, *variables: Variable) -> None:
        self.variables = set(variables)


class ReplaceValidate:
    """Theano's feature, which records what it is asked for."""

    def replace_all_validate(
        self, fgraph: Graph, replacements: list[tuple[Variable, Variable]], reason: str = ""
    ) -> str:
        fgraph.pairs = replacements  # type: ignore[attr-defined]
        return "checkpoint"


@pytest.fixture
def replaced(load: Load) -> Any:
    class FunctionMaker:
        def __init__(self, fgraph: object) -> None:
            self.fgraph = fgraph

    return load(
        "theano_stacks_replaced",
        theano_compile_function_module={"FunctionMaker": FunctionMaker},
        theano_gof_toolbox={"ReplaceValidate": type("Feature", (ReplaceValidate,), {})},
        theano_scan_module_scan_op={"Scan": Scan},
    )


def scans() -> tuple[Variable, Variable, Variable]:
    """Return an input, the output of a scan, and that of the scan which replaces it."""
    x = Variable()
    return x, Node(Scan(), [x]).outputs[0], Node(Scan(), [x]).outputs[0]


def test_other_replacements_stay_as_they_are_and_no_graph_becomes_a_cycle(replaced: Any) -> None:
    x, old, new = scans()
    # Without a successor in the graph, an old scan is left to Theano.
    for of, known in ((x, {old: new}), (old, {}), (old, {old: new})):
        pairs = [(Variable(), Node("size", [of]).outputs[0])]
        assert replaced.with_current(Graph(x), known, pairs) is pairs
    middle = Node("middle", [x]).outputs[0]
    new = Node(Scan(), [middle]).outputs[0]
    pairs = [(middle, Node("size", [old]).outputs[0])]
    assert replaced.with_current(Graph(x, middle, new), {old: new}, pairs) is pairs


def test_function_keeps_no_old_scan(replaced: Any) -> None:
    x, old, new = scans()
    feature = replaced.ReplaceValidate()
    feature.replace_all_validate(Graph(x, old), [(old, new)])
    assert feature.scan_successors == {old: new}
    fgraph = Graph()
    fgraph._features = [feature]  # type: ignore[attr-defined]
    replaced.FunctionMaker(fgraph)
    assert not hasattr(feature, "scan_successors")


SOURCES = REPOSITORY / "recipes/theano-stacks/src"


def run(folder: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code where Theano is another package of that name, an empty one."""
    (folder / "theano").mkdir(exist_ok=True)
    (folder / "theano/__init__.py").write_text("print('imported')\n")
    # The folder of the .pth file, as site-packages is.
    start = f"import site, sys; site.addsitedir({str(SOURCES)!r}); "
    start += f"sys.path.insert(0, {str(folder)!r}); "
    return subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", start + code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


def test_unknown_theano_is_imported_once_and_not_patched_nor_where_it_is_switched_off(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "import theano; import theano; print(theano.__file__)")
    assert done.stdout.splitlines() == ["imported", str(tmp_path / "theano/__init__.py")]
    assert done.stderr.startswith("theano_stacks_quick is not in force: ")
    assert done.stderr.count("\n") == 1
    # To watch for it does not import it, nor hide its own spec.
    code = "from importlib.util import find_spec as f; print(f('theano').origin, f('no_such'))"
    assert run(tmp_path, code).stdout.split() == [str(tmp_path / "theano/__init__.py"), "None"]
    done = run(tmp_path, "import theano", THEANO_STACKS_QUICK="0")
    assert (done.stdout, done.stderr) == ("imported\n", "")


class GpuType:
    """The type of an array on a device, which is no TensorType in Theano."""

    def __init__(self, dtype: str, ndim: int = 1) -> None:
        self.dtype, self.ndim = dtype, ndim

    def dtype_specs(self) -> tuple[None, str, str]:
        return None, f"npy_{self.dtype}", ""


class MethodNotDefined(Exception):  # noqa: N818
    """Theano's own: the operation has no C code."""


@pytest.fixture
def ops(load: Load) -> Any:
    names = ("declare", "init", "extract", "cleanup", "sync", "code_cache_version")
    return load(
        "theano_stacks_ops",
        theano={"__version__": "0.8.2"},
        theano_gof_type={"Generic": type("Generic", (), {f"c_{name}": "" for name in names})},
        theano_gof_utils={"MethodNotDefined": MethodNotDefined},
        theano_tensor_type={"TensorType": type("TensorType", (GpuType,), {})},
    )


@pytest.mark.parametrize("name", ["Split", "AdvancedSubtensor", "AdvancedIncSubtensor"])
def test_arrays_on_a_device_and_a_subclass_with_a_perform_of_its_own_have_no_c_code(
    ops: Any, name: str
) -> None:
    operation, array = getattr(ops, name), ops.TensorType
    operation.perform = lambda self, *given: None

    def code(of: type, first: GpuType) -> str:
        made = of()
        vars(made).update(len_splits=1, set_instead_of_inc=False)
        types = (first, array(first.dtype), array("int64"))
        node = SimpleNamespace(inputs=[SimpleNamespace(type=each) for each in types])
        text: str = made.c_code(node, "node", ["x", "y", "z"], ["out"], {"fail": "goto end;"})
        return text

    x = array("float32", 2)
    assert "%" not in code(type("Plain", (operation,), {}), x)
    for of, first in (
        (type("Mine", (operation,), {"perform": lambda self, *given: None}), x),
        (operation, GpuType("float32", 2)),
    ):
        with pytest.raises(MethodNotDefined):
            code(of, first)


ARGUMENTS = ("m1", "int x;", ("include",), (), (), ("-O3",))


def answers(complete: bool = True, path_inside: bool = False) -> Any:
    """Return Inputs with these answers."""
    return SimpleNamespace(
        key=lambda module: "1" * 64,
        path_options=lambda: ("-fmacro-prefix-map=/prefix=/theano",),
        covers=lambda rule, include_dirs, extra: Path(rule).is_file() and complete,
        has_path=lambda content, location: path_inside,
    )


@pytest.fixture
def sharing(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the module under test, with a store in a temporary folder."""
    (code := tmp_path / "cmodule.py").write_text("compile_str")
    monkeypatch.setenv("THEANO_STACKS_MODULES", str(tmp_path / "modules"))
    flags = SimpleNamespace(compilation_warning=False, remove_gxx_opt=False)
    return load(
        "theano_stacks_sharing",
        theano={"config": SimpleNamespace(cxx="g++", cmodule=flags)},
        theano_gof_cmodule={
            "__file__": str(code),
            "gcc_version": lambda: "10.2.1",
            "get_lib_extension": lambda: "so",
            "std_include_dirs": lambda: ["standard"],
            "std_lib_dirs": list,
            "std_libs": list,
        },
    )


def opened(sharing: Any, inputs: Any) -> Any:
    shared = sharing.Shared()
    # The real Inputs have no key: this test's folders are not in the Python's own prefix.
    assert shared.key(ARGUMENTS) is None
    shared.inputs = inputs
    return shared


@pytest.mark.parametrize("change", [{"complete": False}, {"path_inside": True}, None])
def test_module_that_depends_on_its_location_or_has_no_key_is_not_kept(
    sharing: Any, change: dict[str, bool] | None, tmp_path: Path
) -> None:
    shared = opened(sharing, answers(**change or {}))
    key = shared.key(ARGUMENTS)
    (tmp_path / "m1.so").write_bytes(b"code")
    (tmp_path / sharing.LIST).write_text("m1.so: mod.cpp\n")
    shared.keep(None if change is None else key, ARGUMENTS, str(tmp_path), None)
    assert not shared.has(key)
    assert tuple(sharing.modules.found.values()) == (0, 0, 1)


def test_no_key_where_warnings_are_wanted_or_sharing_is_off(
    sharing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = opened(sharing, answers())
    assert shared.key(ARGUMENTS)
    sharing.theano.config.cmodule.compilation_warning = True
    assert shared.key(ARGUMENTS) is None
    monkeypatch.setenv("THEANO_STACKS_MODULES", "0")
    assert sharing.Shared().key(ARGUMENTS) is None
