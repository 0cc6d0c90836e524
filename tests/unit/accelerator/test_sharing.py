"""Sharing modules: what compile_str takes from the store and puts there."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load

ARGUMENTS = ("m1", "int x;", ("include",), (), (), ("-O3",))


class Inputs:
    """Inputs whose answers the test sets."""

    def __init__(self) -> None:
        self.complete, self.path_inside = True, False

    def key(self, module: Any) -> str:
        return "1" * 64

    def path_options(self) -> tuple[str, ...]:
        return ("-fmacro-prefix-map=/prefix=/theano",)

    def covers(self, rule: str, include_dirs: list[str], extra: list[str]) -> bool:
        assert Path(rule).is_file() and include_dirs == ["include", "standard"]
        return self.complete

    def has_path(self, content: bytes, location: str) -> bool:
        return self.path_inside


class World:
    """The module under test, with a store in a temporary folder."""

    def __init__(self, load: Load, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.location = folder / "modules", folder / "location"
        self.location.mkdir()
        code = folder / "cmodule.py"
        code.write_text("compile_str")
        monkeypatch.setenv("THEANO_STACKS_MODULES", str(self.store))
        self.config = SimpleNamespace(
            cxx="g++", cmodule=SimpleNamespace(compilation_warning=False, remove_gxx_opt=False)
        )
        self.sharing = load(
            "theano_stacks_sharing",
            theano={"config": self.config},
            theano_gof_cmodule={
                "__file__": str(code),
                "gcc_version": lambda: "10.2.1",
                "get_lib_extension": lambda: "so",
                "std_include_dirs": lambda: ["standard"],
                "std_lib_dirs": list,
                "std_libs": list,
            },
        )
        self.shared = self.sharing.Shared()
        self.inputs = Inputs()

    def key(self) -> str | None:
        self.shared.key(ARGUMENTS)
        self.shared.inputs = self.inputs
        key: str | None = self.shared.key(ARGUMENTS)
        return key

    def compiled(self) -> None:
        (self.location / "m1.so").write_bytes(b"code")
        (self.location / self.sharing.LIST).write_text("m1.so: mod.cpp\n")

    def count(self) -> tuple[int, ...]:
        return tuple(self.sharing.modules.found.values())


@pytest.fixture
def world(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(load, tmp_path, monkeypatch)


@pytest.mark.parametrize("change", [{"complete": False}, {"path_inside": True}, None])
def test_module_that_depends_on_its_location_or_has_no_key_is_not_kept(
    world: World, change: dict[str, bool] | None
) -> None:
    key = world.key()
    vars(world.inputs).update(change or {})
    world.compiled()
    world.shared.keep(None if change is None else key, ARGUMENTS, str(world.location), None)
    assert not world.shared.has(key) and world.count() == (0, 0, 1)


def test_no_key_where_warnings_are_wanted_sharing_is_off_or_inputs_have_no_hash(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert world.key()
    world.config.cmodule.compilation_warning = True
    assert world.shared.key(ARGUMENTS) is None
    world.config.cmodule.compilation_warning = False
    # The real Inputs: this test's folders are not in the Python's own prefix.
    monkeypatch.setattr(sys, "base_prefix", str(world.location))
    assert world.sharing.Shared().key(ARGUMENTS) is None
    monkeypatch.setenv("THEANO_STACKS_MODULES", "0")
    assert world.sharing.Shared().key(ARGUMENTS) is None
