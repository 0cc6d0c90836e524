"""Compiling modules: options, background jobs, precompiled headers, a folder that others clean."""

import errno
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


@pytest.mark.parametrize(
    ("number", "exists", "error"),
    [
        (errno.ENOENT, True, None),
        (errno.EACCES, True, PermissionError),
        # The compile folder itself.
        (errno.ENOENT, False, FileNotFoundError),
    ],
)
def test_a_folder_that_another_process_has_removed_is_left_out(
    number: int, exists: bool, error: type[OSError] | None, load: Load, tmp_path: Path
) -> None:
    class Cache:
        """Lists folders as Theano does; three are gone a moment after they are seen."""

        removed = 3

        def refresh(self, age: int = 0) -> tuple[int, list[str]]:
            if self.removed:
                self.removed -= 1
                raise OSError(number, os.strerror(number), "tmp1")
            return age, [each.name for each in folder.iterdir()]

        def clear_unversioned(self) -> list[str]:
            return self.refresh()[1]

    folder = tmp_path / ("" if exists else "gone")
    load("theano_stacks_refresh", theano_gof_cmodule={"ModuleCache": Cache}).fix()
    if error:
        with pytest.raises(error):
            Cache().refresh()
    else:
        assert Cache().refresh(age=5) == (5, [])
        assert Cache().clear_unversioned() == []
