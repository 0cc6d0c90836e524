"""Which framework the suite verifies, and what it says of one whose import fails."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from verify import cli
from verify.core import framework


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
    (tmp_path / "broken_framework.py").write_text(f"raise AttributeError({error!r} + 'x' * 9999)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(framework.FrameworkError, match=error) as caught:
        framework.load("broken_framework")
    assert caught.value.fix.startswith(fix) and len(str(caught.value)) < 700


def test_a_setting_that_the_error_names_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = 'Invalid value ("x") for configuration variable "floatX".'
    file = "pathlib.Path(os.environ['BROKENRC'].split(':')[-1]).read_text().lower()"
    text = f"import os, pathlib\nif 'floatx' in {file}: raise ValueError({error!r})"
    (tmp_path / "broken.py").write_text(text)
    (tmp_path / "rc").write_text("[global]\nmode = y\nfloatX = x\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("BROKENRC", str(tmp_path / "rc"))
    names = {"module": "broken", "variant": "v", "framework": "f"}
    with pytest.raises(framework.FrameworkError, match="configuration variable") as caught:
        cli._framework(names, str(tmp_path), {})
    assert caught.value.fix == f"remove from {tmp_path}/rc:\n[global]\nfloatx = x"


def test_numpy_is_verified_only_where_no_framework_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = SimpleNamespace(__name__="numpy", __version__="1.2.3")
    monkeypatch.setitem(sys.modules, "numpy", module)
    installed = {"numpy"}
    monkeypatch.setattr(framework, "is_installed", lambda name: name in installed)
    assert cli._framework(None, str(tmp_path), {}).name == "numpy"

    def error(expectation: object = None) -> str:
        with pytest.raises(framework.FrameworkError) as caught:
            cli._framework(expectation, str(tmp_path), {})
        return f"{caught.value}\n{caught.value.fix}"

    # An environment of theano-stacks has a framework.
    assert "has no theano" in error({"module": "theano", "variant": "v", "framework": "f"})
    installed.clear()
    assert "has no Theano, Aesara" in error()
    monkeypatch.setenv("PYTHONEXECUTABLE", sys.executable)
    assert "\nunset PYTHONEXECUTABLE" in error()
    # One that works does not hide one that does not.
    installed.update({"numpy", "theano", "aesara"})
    monkeypatch.setitem(sys.modules, "theano", sys)
    monkeypatch.setitem(sys.modules, "aesara", None)
    assert error().startswith("import of aesara fails")
    assert "first try: unset PYTHONEXECUTABLE; this shows all" in error()
    installed.intersection_update({"numpy"})
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert error().startswith("import of numpy fails")
