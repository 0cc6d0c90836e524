"""The elementwise functions that another process compiles."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

precompile = suite_module("elementwise.precompile")


class Context:
    """A verification that compiles in `folder`; its process compiles one module."""

    def __init__(self, folder: Path, cxx: str = "g++", modules: str | None = None) -> None:
        self.folder, self.modules = str(folder), modules
        self.verified = str(folder / "verified")
        flags = {"cxx": cxx, "base_compiledir": str(folder / "compiled")}
        self.framework = SimpleNamespace(name="theano", flag=flags.get)
        self.started: list[tuple[str, str]] = []

    def start(self, program: str, name: str) -> Any:
        self.started.append((program, name))
        module(Path(self.folder, name), "tmp2")
        return SimpleNamespace(finish=lambda seconds: None)


def module(folder: Path, name: str, text: str = "module") -> Path:
    place = folder / "compiledir_Linux" / name
    place.mkdir(parents=True)
    (place / "key.pkl").write_text("key")
    (place / "m.so").write_text(text)
    return place


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile.machine, "usable_cores", lambda: 2)


def test_what_the_process_has_compiled_is_taken(tmp_path: Path) -> None:
    module(tmp_path / "compiled", "tmp1", "own")
    context = Context(tmp_path)
    finish = precompile.start(context)
    assert context.started == [("precompile", "precompiled")]
    module(tmp_path / "precompiled", "tmp1", "a copy")
    unfinished = tmp_path / "precompiled/compiledir_Linux/tmp3"
    unfinished.mkdir()
    (unfinished / "mod.cpp").touch()
    finish()
    folder = tmp_path / "compiled/compiledir_Linux"
    assert sorted(path.name for path in folder.iterdir()) == ["tmp1", "tmp2"]
    assert (folder / "tmp1/m.so").read_text() == "own"
    assert (folder / "tmp2/m.so").read_text() == "module"
    # A framework may add to a module's key later, under the name that the key was written with.
    assert (tmp_path / "precompiled/compiledir_Linux/tmp2/key.pkl").is_file()


@pytest.mark.parametrize(("cores", "options"), [(1, {}), (2, {"cxx": ""}), (2, {"modules": "/m"})])
def test_nothing_is_compiled_where_it_saves_no_time(
    cores: int, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompile.machine, "usable_cores", lambda: cores)
    context = Context(tmp_path, **options)
    assert precompile.start(context) is None
    assert context.started == []


def test_nothing_is_compiled_that_the_last_verification_has_kept(tmp_path: Path) -> None:
    context = Context(tmp_path)
    Path(context.verified).mkdir()
    assert precompile.start(context) is None
    assert context.started == []


def test_the_process_compiles_each_function_that_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    monkeypatch.setattr(precompile.configuration, "use_compile_folder", lambda folder: None)
    monkeypatch.setattr(precompile.frameworks, "load", lambda name: name)
    monkeypatch.setattr(precompile.loops, "compiled", lambda *words: compiled.append(words))
    monkeypatch.setattr(precompile.loops, "compiled_cases", lambda *words: compiled.append(words))
    precompile.main(["theano", str(tmp_path)])
    assert set(compiled) >= {("theano", dtype) for dtype in precompile.loops.DTYPES}
    assert set(compiled) >= {("theano", name, "float32") for name in precompile.loops.FUNCTIONS}
