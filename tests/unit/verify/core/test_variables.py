"""Paths taken out of a variable, as a command of the shell."""

import importlib
from pathlib import Path

import pytest

variables = importlib.import_module("verify.core.surroundings")


def test_a_path_is_taken_out_by_its_name_or_by_a_link_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    real = str((tmp_path / "folder").resolve())
    monkeypatch.setenv("ODD_PATH", f"/a b:{tmp_path}/link:{real}")
    assert variables.without("ODD_PATH", real) == "export ODD_PATH='/a b'"
    monkeypatch.setenv("ODD_PATH", str(tmp_path / "link"))
    assert variables.without("ODD_PATH", real) == "unset ODD_PATH"
    assert variables.without("ODD_PATH", "/other") is None
    monkeypatch.delenv("ODD_PATH")
    assert variables.without("ODD_PATH", real) is None


def test_what_is_loaded_first_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/odd:/none")
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6 /odd/x.so")
    fix = "LD_PRELOAD leads to /odd/x.so:\nexport LD_PRELOAD=libm.so.6"
    assert variables.loader_fix(["/odd/x.so"]) == fix
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    fix = "LD_LIBRARY_PATH leads to /odd/x.so:\nexport LD_LIBRARY_PATH=/none"
    assert variables.loader_fix(["/lib/y.so", "/odd/x.so"]) == fix
    assert variables.loader_fix(["/lib/y.so"]) is None
