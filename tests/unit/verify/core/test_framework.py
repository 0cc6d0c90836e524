"""The interface to the frameworks, on modules that look like one."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
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
