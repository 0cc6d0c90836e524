"""Precompiled headers, with a compiler of the test."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load


@pytest.fixture
def module(load: Load, tmp_path: Path) -> Any:
    """The module under test, with a compile folder of its own."""
    return load(
        "theano_stacks_headers",
        numpy={"__version__": "1.21.6"},
        theano={
            "__version__": "1.0.5",
            "config": SimpleNamespace(cxx="g++", compiledir=tmp_path / "compiledir"),
        },
        theano_gof_cmodule={"gcc_version": lambda: "10.2.1", "std_include_dirs": list},
    )


def options(module: Any, monkeypatch: pytest.MonkeyPatch, run: Callable[..., object]) -> list[Any]:
    """Return the options of three modules that the compiler gets the same options for."""
    monkeypatch.setattr(subprocess, "check_call", run)
    source = module.TEXT + "int x;"
    return [module.HEADERS.options(source, ["-O3"], ["include"]) for _ in range(3)]


def test_headers_are_compiled_for_the_second_module_and_again_once_they_are_purged(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: Any) -> None:
        commands.append(command)
        Path(command[command.index("-o") + 1]).touch()

    first, second, third = options(module, monkeypatch, run)
    assert first == [] and second == third and second[0] == "-include"
    path = Path(second[1])
    assert path.read_text() == module.TEXT and Path(f"{path}.gch").is_file()
    [command] = commands
    assert command[:2] == ["g++", "-fvisibility=hidden"] and "-Iinclude" in command
    assert module.HEADERS.options("int x;", ["-O3"], ["include"]) == []
    shutil.rmtree(path.parent)
    assert options(module, monkeypatch, run)[2] == second and path.is_file()


def test_headers_that_do_not_compile_are_not_used(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(command: list[str], **_: Any) -> None:
        raise subprocess.CalledProcessError(1, command)

    assert options(module, monkeypatch, fail) == [[], [], []]
