"""Sharing modules: what compile_str takes from the store and puts there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load

ARGUMENTS = ("m1", "int x;", ("include",), (), (), ("-O3",))


def answers(complete: bool = True, path_inside: bool = False) -> Any:
    """Return Inputs with these answers."""
    return SimpleNamespace(
        key=lambda module: "1" * 64,
        path_options=lambda: ("-fmacro-prefix-map=/prefix=/theano",),
        covers=lambda rule, include_dirs, extra: Path(rule).is_file() and complete,
        has_path=lambda content, location: path_inside,
    )


@pytest.fixture
def sharing(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the module under test, with a store in a temporary folder."""
    (code := tmp_path / "cmodule.py").write_text("compile_str")
    monkeypatch.setenv("THEANO_STACKS_MODULES", str(tmp_path / "modules"))
    flags = SimpleNamespace(compilation_warning=False, remove_gxx_opt=False)
    return load(
        "theano_stacks_sharing",
        theano={"config": SimpleNamespace(cxx="g++", cmodule=flags)},
        theano_gof_cmodule={
            "__file__": str(code),
            "gcc_version": lambda: "10.2.1",
            "get_lib_extension": lambda: "so",
            "std_include_dirs": lambda: ["standard"],
            "std_lib_dirs": list,
            "std_libs": list,
        },
    )


def opened(sharing: Any, inputs: Any) -> Any:
    shared = sharing.Shared()
    # The real Inputs have no key: this test's folders are not in the Python's own prefix.
    assert shared.key(ARGUMENTS) is None
    shared.inputs = inputs
    return shared


@pytest.mark.parametrize("change", [{"complete": False}, {"path_inside": True}, None])
def test_module_that_depends_on_its_location_or_has_no_key_is_not_kept(
    sharing: Any, change: dict[str, bool] | None, tmp_path: Path
) -> None:
    shared = opened(sharing, answers(**change or {}))
    key = shared.key(ARGUMENTS)
    (tmp_path / "m1.so").write_bytes(b"code")
    (tmp_path / sharing.LIST).write_text("m1.so: mod.cpp\n")
    shared.keep(None if change is None else key, ARGUMENTS, str(tmp_path), None)
    assert not shared.has(key)
    assert tuple(sharing.modules.found.values()) == (0, 0, 1)


def test_no_key_where_warnings_are_wanted_or_sharing_is_off(
    sharing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = opened(sharing, answers())
    assert shared.key(ARGUMENTS)
    sharing.theano.config.cmodule.compilation_warning = True
    assert shared.key(ARGUMENTS) is None
    monkeypatch.setenv("THEANO_STACKS_MODULES", "0")
    assert sharing.Shared().key(ARGUMENTS) is None
