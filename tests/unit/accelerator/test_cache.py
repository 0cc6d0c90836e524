"""Files of kept graphs, used only where they are whole and fit; the module of each node in them."""

import logging
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load

KEY = "5" * 64
MODULE = "tmp1/m5.so"
# What theano_stacks_links takes of Theano when it is imported.
REPLACED: dict[str, dict[str, object]] = {
    "theano_gof_cc": {"_CThunk": type("_CThunk", (), {"__init__": lambda self: None})},
    "theano_gof_cmodule": {
        "gcc_version": lambda: "12.2",
        "ModuleCache": type("ModuleCache", (), {"module_from_key": None}),
    },
    "theano_gof_op": {"Op": type("Op", (), {"make_c_thunk": None})},
}


class Graph:
    """A FunctionGraph, as far as the module looks at it."""

    def __init__(self, *outputs: str) -> None:
        self.inputs: list[str] = []
        self.outputs = list(outputs)
        self.valid = True

    def change_input(self, node: str, place: int, output: str, reason: str) -> None:
        self.outputs[place] = output

    def execute_callbacks(self, name: str) -> None:
        if not self.valid:
            raise ValueError("not valid")


@pytest.fixture
def cache(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    class FunctionMaker:
        def __init__(self, inputs: object, outputs: object, mode: object = None) -> None:
            self.fgraph = Graph("plain")

        def create(self) -> None:
            pass

    config = SimpleNamespace(compiledir=tmp_path, compute_test_value="off", on_opt_error="warn")
    module = load(
        "theano_stacks_cache",
        theano={"config": config},
        theano_compile_function_module={"FunctionMaker": FunctionMaker},
        **REPLACED,
    )
    monkeypatch.setattr(module, "packed", lambda inputs, outputs: (list(outputs), []))
    monkeypatch.setattr(module, "unpacked", lambda inputs, content: (content, []))
    monkeypatch.setattr(module, "Links", lambda store, key, nodes: None)
    monkeypatch.setattr(module, "is_optimised", lambda maker: maker.requested_mode != "none")
    monkeypatch.setattr(module, "key_of", lambda maker: KEY)
    return module


def optimised(cache: Any, valid: bool = True) -> list[str]:
    """Return the outputs of a new function's graph."""

    def optimizer(graph: Graph) -> None:
        graph.outputs = ["optimised"]

    maker = cache.function_module.FunctionMaker([], [], mode="mode")
    maker.fgraph.valid = valid
    maker.optimize_graph_with_cache(optimizer, [], [])
    outputs: list[str] = maker.fgraph.outputs
    return outputs


def counts(cache: Any) -> tuple[int, ...]:
    return tuple(cache.found.values())


@pytest.mark.parametrize(
    ("mode", "said", "on_error", "found"),
    [
        ("mode", "maximum recursion depth exceeded", "warn", (0, 0, 1)),
        ("mode", "EquilibriumOptimizer max'ed out by 'x'", "warn", (0, 1, 0)),
        ("mode", "", "ignore", (0, 0, 1)),
        ("none", "", "warn", (0, 0, 0)),
    ],
)
def test_graph_that_is_not_optimised_or_whose_optimisation_failed_is_not_kept(
    mode: str, said: str, on_error: str, found: tuple[int, ...], cache: Any
) -> None:
    def optimizer(graph: Graph) -> None:
        if said:
            logging.getLogger("theano.gof.opt").error(said)

    cache.theano.config.on_opt_error = on_error
    maker = cache.function_module.FunctionMaker([], [], mode=mode)
    maker.optimize_graph_with_cache(optimizer, [], [])
    assert counts(cache) == found


@pytest.mark.parametrize("damaged", [True, False])
def test_file_that_is_damaged_or_does_not_fit_is_replaced_with_one_line(
    cache: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, damaged: bool
) -> None:
    optimised(cache)
    path = tmp_path / cache.FOLDER / KEY
    whole = path.read_bytes()
    if damaged:
        path.write_bytes(whole[:-1])
    assert optimised(cache, valid=damaged) == ["optimised"]
    (message,) = [record.getMessage() for record in caplog.records]
    reason = "the file is damaged, or another's" if damaged else "it does not fit: "
    assert message.startswith(f"{path} is removed: {reason}")
    assert path.read_bytes() == whole
    assert counts(cache) == (0, 2, 0)


def unknown(maker: object) -> str:
    raise ValueError("test values are computed")


@pytest.mark.parametrize(
    ("name", "function"),
    [("key_of", unknown), ("packed", lambda inputs, outputs: ([lambda: 0], []))],
)
def test_graph_without_a_key_or_that_cannot_be_stored_is_optimised(
    cache: Any, monkeypatch: pytest.MonkeyPatch, name: str, function: Any
) -> None:
    monkeypatch.setattr(cache, name, function)
    assert optimised(cache) == ["optimised"] and counts(cache) == (0, 0, 1)


class MethodNotDefinedError(Exception):
    pass


class Setting:
    fullname = "gcc.cxxflags"

    def __init__(self, value: str) -> None:
        self.value = value

    def __get__(self, place: object, kind: object) -> str:
        return self.value


@pytest.fixture
def links(load: Load, tmp_path: Path) -> Any:
    module = load(
        "theano_stacks_links",
        theano={"config": SimpleNamespace(compiledir=tmp_path)},
        theano_configparser={"get_config_md5": lambda: "md5", "_config_var_list": [Setting("-O2")]},
        theano_gof_utils={"MethodNotDefined": MethodNotDefinedError},
        **REPLACED,
    )
    (tmp_path / MODULE).parent.mkdir()
    (tmp_path / MODULE).touch()
    module.opened = load("theano_stacks_modules").opened
    return module


def opened(links: Any, tmp_path: Path, nodes: list[object]) -> Any:
    store = links.opened(str(tmp_path / "graphs"), "")
    return links.Links(store, KEY, nodes)


def test_next_start_knows_the_modules_of_the_same_nodes(links: Any, tmp_path: Path) -> None:
    nodes = [object(), object(), object()]
    first = opened(links, tmp_path, nodes)
    first.add(nodes[1], (False,), str(tmp_path / MODULE))
    first.add(nodes[2], (False,), None)
    first.add(object(), (False,), str(tmp_path / MODULE))
    first.keep()
    nodes = [object(), object(), object()]
    second = opened(links, tmp_path, nodes)
    assert [second.has(each) for each in (*nodes, object())] == [False, True, True, False]
    assert second.module(nodes[1], (False,)) == str(tmp_path / MODULE)
    assert second.module(nodes[0], (False,)) is None
    assert second.module(nodes[1], (True,)) is None, "it may keep other arrays now"
    with pytest.raises(MethodNotDefinedError):
        second.module(nodes[2], (False,))


def missing(links: Any, tmp_path: Path, path: Path) -> None:
    (tmp_path / MODULE).unlink()


def other_options(links: Any, tmp_path: Path, path: Path) -> None:
    links.configparser._config_var_list[0].value = "-O3"


def other_compiler(links: Any, tmp_path: Path, path: Path) -> None:
    links.cmodule.gcc_version = lambda: "13.1"


def damaged(links: Any, tmp_path: Path, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("change", [missing, other_options, other_compiler, damaged])
def test_module_is_named_anew_after_a_change(links: Any, tmp_path: Path, change: Any) -> None:
    node = object()
    first = opened(links, tmp_path, [node])
    first.add(node, (), str(tmp_path / MODULE))
    first.keep()
    (path,) = (tmp_path / "graphs").iterdir()
    change(links, tmp_path, path)
    second = opened(links, tmp_path, [node])
    assert not second.has(node) and second.module(node, ()) is None


def test_file_that_cannot_be_read_is_removed(links: Any, tmp_path: Path) -> None:
    first = opened(links, tmp_path, [])
    for content in (b"no pickle", pickle.dumps(5)):
        first.store.keep(first.key, content)
        assert opened(links, tmp_path, []).known == {}
        assert not (tmp_path / "graphs" / first.key).exists()
