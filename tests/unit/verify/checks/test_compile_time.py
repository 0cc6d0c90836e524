"""Timings of the import and of a compilation."""

import importlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

compile_time = importlib.import_module("verify.checks.compile_time")


def test_the_import_is_timed_until_it_is_steady(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    environments: list[dict[str, str]] = []

    def call(command: list[str], seconds: float, environment: dict[str, str]) -> Any:
        commands.append(command)
        environments.append(environment)
        return SimpleNamespace(status=0, timed_out=False, output="")

    monkeypatch.setattr(compile_time.process, "call", call)
    times = iter([0, 1, 1, 3, 3, 4] * 2)
    monkeypatch.setattr(compile_time, "monotonic", lambda: next(times))
    framework = SimpleNamespace(name="theano")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "/elsewhere")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (timing,) = compile_time.imports(SimpleNamespace(framework=framework, folder=str(tmp_path)))
    assert (timing.name, timing.unit, timing.samples) == ("import", "s", [1, 2, 1])
    assert [command[1] for command in commands] == ["-c"] * 3
    assert commands[0][2].endswith("; import theano")
    assert "PYTHONDONTWRITEBYTECODE" not in environments[0]
    # The environment has its own, to which nothing is added.
    monkeypatch.delenv("PYTHONPYCACHEPREFIX")
    compile_time.imports(SimpleNamespace(framework=framework, folder=str(tmp_path)))
    assert environments[-1]["PYTHONDONTWRITEBYTECODE"] == "1"


def test_the_import_is_not_that_of_a_module_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('mine')")
    monkeypatch.chdir(tmp_path)
    framework = SimpleNamespace(name="json")
    (timing,) = compile_time.imports(SimpleNamespace(framework=framework, folder=str(tmp_path)))
    assert timing.name == "import"


def test_an_import_that_fails_has_no_time(tmp_path: Path) -> None:
    framework = SimpleNamespace(name="no_such_framework")
    with pytest.raises(RuntimeError, match="No module named 'no_such_framework'"):
        compile_time.imports(SimpleNamespace(framework=framework, folder=str(tmp_path)))


class Symbol:
    def sum(self, axis: int) -> "Symbol":
        return self


class Framework:
    tensor = SimpleNamespace(dot=lambda x, w: Symbol(), tanh=lambda x: x)

    def variable(self, *arguments: str) -> Symbol:
        return Symbol()

    def function(self, inputs: list[Symbol], outputs: list[Symbol]) -> Any:
        return object()

    def compile_seconds(self, function: Any) -> tuple[float, float]:
        return 0.25, 1.5


def test_a_compilation_is_split_into_optimiser_and_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THEANO_STACKS_MODULES", "/empty")
    timings = compile_time.compilation(SimpleNamespace(framework=Framework(), modules="/cache"))
    assert [timing.name for timing in timings] == [
        "compile",
        "compile: optimiser",
        "compile: C compiler and linker",
    ]
    assert [timing.median for timing in timings[1:]] == [0.25, 1.5]
    assert os.environ["THEANO_STACKS_MODULES"] == "/cache"


def test_no_modules_are_taken_where_the_compiler_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no compiler")

    framework = Framework()
    monkeypatch.setattr(framework, "function", fail)
    monkeypatch.setenv("THEANO_STACKS_MODULES", "/empty")
    with pytest.raises(RuntimeError):
        compile_time.compilation(SimpleNamespace(framework=framework, modules="/cache"))
    assert os.environ["THEANO_STACKS_MODULES"] == "/empty"
