"""Compiling modules: options, background jobs, precompiled headers, a folder that others clean."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load


@pytest.fixture
def compiler(load: Load, tmp_path: Path) -> Any:
    """Give the module under test, on a Theano that writes a source as its module, or fails."""

    def compile_str(name: str, source: str, location: str, *lists: Any) -> None:
        if source == "fails":
            module.cmodule.print("the compiler's words")
            raise ValueError("the compiler failed")
        (Path(location) / f"{name}.so").write_text(source)

    flags = SimpleNamespace(compilation_warning=False, remove_gxx_opt=False)
    config = SimpleNamespace(cxx="g++", compiledir=tmp_path / "compiledir", cmodule=flags)
    module = load(
        "theano_stacks_compiler",
        numpy={"__version__": "1.21.6"},
        theano={"__version__": "1.0.5", "config": config},
        theano_gof_cmodule={
            "__file__": __file__,
            "GCC_compiler": type("Compiler", (), {"compile_str": staticmethod(compile_str)}),
            "gcc_version": lambda: "10.2.1",
            "get_lib_extension": lambda: "so",
            "std_include_dirs": list,
            "dlimport": lambda path: path,
        },
        theano_gof_vm={"VM_Linker": type("Linker", (), {"make_all": lambda self: "made"})},
    )
    return module


def begin(compiler: Any, source: str) -> None:
    compiler.BACKGROUND.begin(compiler._arguments("m1", source, *[()] * 4))


def test_failure_in_the_background_is_reported_by_the_real_call(
    compiler: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler.fix()
    begin(compiler, "fails")
    with pytest.raises(ValueError, match="the compiler failed"):
        compiler.compile_str("m1", "fails", str(tmp_path))
    assert capsys.readouterr().out == "the compiler's words\n"
    # Without C there is nothing to begin.
    linker = compiler.vm.VM_Linker()
    linker.c_thunks = False
    assert linker.make_all() == "made"


def test_forked_process_takes_nothing_of_its_parents(compiler: Any, tmp_path: Path) -> None:
    begin(compiler, "a")
    compiler.BACKGROUND.process = os.getpid() + 1
    compiler.compile_str("m1", "a", str(tmp_path))
    assert compiler.BACKGROUND.jobs, "the parent's job is left to it"


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
