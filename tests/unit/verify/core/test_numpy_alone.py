from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import pytest

numpy_alone = importlib.import_module("verify.core.framework")
cli = importlib.import_module("verify.cli")
frameworks = importlib.import_module("verify.core.framework")


@pytest.fixture
def numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("numpy")
    module.__dict__["__version__"] = "1.2.3"
    monkeypatch.setitem(sys.modules, "numpy", module)


@pytest.mark.usefixtures("numpy")
def test_numpy_has_a_version_and_a_compiler_and_no_flags() -> None:
    alone = numpy_alone.NumPyAlone()
    assert (alone.name, alone.version) == ("numpy", "1.2.3")
    assert (alone.flag("cxx"), alone.flag("blas.ldflags")) == ("g++", None)


@pytest.mark.usefixtures("numpy")
def test_numpy_is_verified_only_where_no_framework_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = {"numpy"}
    monkeypatch.setattr(frameworks, "is_installed", lambda name: name in installed)
    assert cli._framework(None, str(tmp_path), {}).name == "numpy"
    # An environment of theano-stacks has a framework.
    with pytest.raises(frameworks.NotInstalledError):
        cli._framework({"module": "theano"}, str(tmp_path), {})
    installed.clear()
    with pytest.raises(frameworks.NotInstalledError):
        cli._framework(None, str(tmp_path), {})
    installed.update({"numpy", "theano"})
    monkeypatch.setitem(sys.modules, "theano", None)
    with pytest.raises(frameworks.FrameworkError, match="import of theano fails"):
        cli._framework(None, str(tmp_path), {})
