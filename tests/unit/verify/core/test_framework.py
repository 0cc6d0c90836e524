"""The interface to the frameworks, on modules that look like one."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import pytest

framework = importlib.import_module("verify.core.framework")


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
        cli._framework({"module": "theano", "variant": "v", "framework": "f"}, str(tmp_path), {})
    installed.clear()
    with pytest.raises(framework.NotInstalledError):
        cli._framework(None, str(tmp_path), {})
    installed.update({"numpy", "theano"})
    monkeypatch.setitem(sys.modules, "theano", None)
    with pytest.raises(framework.FrameworkError, match="import of theano fails"):
        cli._framework(None, str(tmp_path), {})
