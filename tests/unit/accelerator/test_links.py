"""Which module computes a node of a stored graph: known again in the next start, or named anew."""

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import REPLACED, Load

KEY = "5" * 64
MODULE = "tmp1/m5.so"


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
