"""The interface to the frameworks, on modules that look like one."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

framework = importlib.import_module("verify.core.framework")

CONFIG = """
from types import SimpleNamespace
class Config(SimpleNamespace): pass
__version__ = "1.2.3"
config = Config(profile=True, cxx="g++", blas=SimpleNamespace(ldflags="-lx"), lib__amblibm=False)
config.compute_test_value = "raise"
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a loaded framework whose module is called aesara."""
    package = tmp_path / "aesara"
    (package / "tensor").mkdir(parents=True)
    (package / "compile").mkdir()
    (package / "__init__.py").write_text(CONFIG)
    (package / "tensor/__init__.py").write_text("def matmul(a, b): return ('matmul', a, b)")
    (package / "tensor/blas.py").touch()
    (package / "compile/__init__.py").touch()
    (package / "compile/mode.py").touch()
    (package / "compile/profiling.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield framework.load()
    for name in [name for name in sys.modules if name.split(".")[0] == "aesara"]:
        del sys.modules[name]


def test_the_first_installed_framework_is_loaded_without_its_profile(fake: Any) -> None:
    assert (fake.name, fake.version, fake.config.profile) == ("aesara", "1.2.3", False)
    assert fake.profiling.__name__ == "aesara.compile.profiling"
    assert fake.config.compute_test_value == "off", "the suite's variables have no test values"
    assert not hasattr(fake.config, "warn_float64")


def test_the_suite_leaves_out_what_the_users_programs_leave_out(fake: Any) -> None:
    excluded: list[str] = []

    class Mode:
        def __init__(self, linker: str, optimizer: str) -> None:
            pass

        def excluding(self, *names: str) -> str:
            excluded.extend(names)
            return "less"

    fake.function_modes.Mode = Mode
    assert isinstance(fake.mode(), Mode)
    fake.config.optimizer_excluding = "fusion:inplace"
    assert fake.mode(excluding=("BlasOpt",)) == "less"
    assert excluded == ["fusion", "inplace", "BlasOpt"]


def test_a_flag_is_found_by_its_dotted_name_however_it_is_stored(fake: Any) -> None:
    assert fake.flag("blas.ldflags") == "-lx"
    assert fake.flag("lib.amblibm") is False
    assert fake.flag("gcc.cxxflags") is None


def test_names_of_variables_files_and_flags(fake: Any) -> None:
    assert (fake.flags_variable, fake.rc_variable) == ("AESARA_FLAGS", "AESARARC")
    assert fake.rc_file == "~/.aesararc"
    assert fake.spelled("blas.ldflags") == "blas__ldflags"
    assert fake.amdlibm_flag == "lib.amblibm"


def test_theano_takes_dots_and_theano_pymc_does_not(fake: Any) -> None:
    fake.name = "theano"
    assert fake.spelled("blas.ldflags") == "blas.ldflags"
    type(fake.config).blas__ldflags = ""
    assert fake.spelled("blas.ldflags") == "blas__ldflags"


def test_the_linker_needs_a_compiler_for_c(fake: Any) -> None:
    assert fake.linker == "cvm"
    fake.config.cxx = ""
    assert fake.linker == "vm"


def test_without_a_framework() -> None:
    with pytest.raises(
        framework.FrameworkError, match="this Python has no no_such_module"
    ) as error:
        framework.load("no_such_module")
    assert error.value.fix.startswith("run verify with the Python")


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        ("numpy has no blas_opt_info", ""),
        ("No closing quotation", "put a backslash before it"),
        ("too old", "not recognised; this shows all of it:"),
    ],
)
def test_an_import_that_fails(
    error: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_framework.py").write_text(f"raise AttributeError({error!r})")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(framework.FrameworkError, match=error) as caught:
        framework.load("broken_framework")
    assert caught.value.fix.startswith(fix)


@pytest.mark.parametrize(
    ("name", "linker", "expected"),
    [("pytensor", "NumbaLinker", True), ("pytensor", "VMLinker", False), ("aesara", "", False)],
)
def test_only_a_pytensor_whose_default_is_numba_runs_it(
    fake: Any, name: str, linker: str, expected: bool
) -> None:
    fake.name = name
    mode = SimpleNamespace(linker=type(linker, (), {})())
    fake.function_modes.get_default_mode = lambda: mode
    assert fake.runs_numba is expected


def test_jax_has_a_mode_of_its_own(fake: Any) -> None:
    fake.function_modes.Mode = lambda linker, optimizer: (linker, optimizer)
    fake.function_modes.predefined_modes = {"JAX": "the mode of JAX"}
    assert fake.mode("jax") == "the mode of JAX"
    assert fake.mode("numba") == ("numba", "fast_run")


def test_a_framework_without_jax(fake: Any) -> None:
    fake.function_modes.predefined_modes = {}
    with pytest.raises(framework.LinkerError, match=r"aesara 1\.2\.3 has no linker jax"):
        fake.mode("jax")


cli = importlib.import_module("verify.cli")


@pytest.fixture
def numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("numpy")
    module.__dict__["__version__"] = "1.2.3"
    monkeypatch.setitem(sys.modules, "numpy", module)


@pytest.mark.usefixtures("numpy")
def test_numpy_has_a_version_and_a_compiler_and_no_flags() -> None:
    alone = framework.NumPyAlone()
    assert (alone.name, alone.version) == ("numpy", "1.2.3")
    assert (alone.flag("cxx"), alone.flag("blas.ldflags")) == ("g++", None)


@pytest.mark.usefixtures("numpy")
def test_numpy_is_verified_only_where_no_framework_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = {"numpy"}
    monkeypatch.setattr(framework, "is_installed", lambda name: name in installed)
    assert cli._framework(None, str(tmp_path), {}).name == "numpy"
    # An environment of theano-stacks has a framework.
    with pytest.raises(framework.NotInstalledError):
        cli._framework({"module": "theano"}, str(tmp_path), {})
    installed.clear()
    with pytest.raises(framework.NotInstalledError):
        cli._framework(None, str(tmp_path), {})
    installed.update({"numpy", "theano"})
    monkeypatch.setitem(sys.modules, "theano", None)
    with pytest.raises(framework.FrameworkError, match="import of theano fails"):
        cli._framework(None, str(tmp_path), {})
