"""Compiling modules: options, background jobs, with a compiler of the test."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load

Call = tuple[str, str, list[str]]


class World:
    """The module under test, and the calls of Theano's own compile_str."""

    def __init__(self, load: Load, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.calls: list[Call] = []
        monkeypatch.setenv("THEANO_STACKS_MODULES", "0")

        class Compiler:
            compile_str = staticmethod(self.compile)

        class Linker:
            def make_all(self) -> str:
                return "made"

        self.compiler = load(
            "theano_stacks_compiler",
            numpy={"__version__": "1.21.6"},
            theano={
                "__version__": "1.0.5",
                "config": SimpleNamespace(
                    cxx="g++",
                    compiledir=folder / "compiledir",
                    cmodule=SimpleNamespace(compilation_warning=False, remove_gxx_opt=False),
                ),
            },
            theano_gof_cmodule={
                "__file__": __file__,
                "GCC_compiler": Compiler,
                "gcc_version": lambda: "10.2.1",
                "get_lib_extension": lambda: "so",
                "std_include_dirs": list,
                "dlimport": lambda path: path,
            },
            theano_gof_vm={"VM_Linker": Linker},
        )

    def compile(self, name: str, source: str, location: str, *lists: Any) -> None:
        if source == "fails":
            self.compiler.cmodule.print("the compiler's words")
            raise ValueError("the compiler failed")
        self.calls.append((name, source, list(lists[3])))
        (Path(location) / f"{name}.so").write_text(source)

    def compile_str(self, name: str, source: str, **options: Any) -> Path:
        location = self.folder / name
        location.mkdir()
        self.compiler.compile_str(name, source, str(location), **options)
        return location

    def begin(self, name: str, source: str) -> None:
        self.compiler.BACKGROUND.begin(self.compiler._arguments(name, source, *[()] * 4))


@pytest.fixture
def world(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(load, tmp_path, monkeypatch)


def test_debug_information_only_where_the_options_have_it(world: World) -> None:
    location = world.compile_str("m1", "a", preargs=["-O3"])
    world.compile_str("m2", "b", preargs=["-O3", "-g"])
    assert [options for _, _, options in world.calls] == [["-O3", "-g0"], ["-O3", "-g"]]
    assert (location / "__init__.py").is_file()


def test_module_compiled_in_the_background_is_taken(world: World) -> None:
    world.begin("m1", "a")
    world.begin("m1", "a")
    location = world.compile_str("m1", "a")
    assert [name for name, *_ in world.calls] == ["m1"]
    assert (location / "m1.so").read_text() == "a"


def test_failure_in_the_background_is_reported_by_the_real_call(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.compiler.fix()
    world.begin("m1", "fails")
    with pytest.raises(ValueError, match="the compiler failed"):
        world.compile_str("m1", "fails")
    assert capsys.readouterr().out == "the compiler's words\n"
    # Without C there is nothing to begin.
    linker = world.compiler.vm.VM_Linker()
    linker.c_thunks = False
    assert linker.make_all() == "made"


def test_forked_process_takes_nothing_of_its_parents(world: World) -> None:
    world.begin("m1", "a")
    world.compiler.BACKGROUND.process = os.getpid() + 1
    world.compile_str("m1", "a")
    assert world.compiler.BACKGROUND.jobs, "the parent's job is left to it"
