"""The check of the vector registers, on any processor; what is compiled beside other checks."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

registers = suite_module("elementwise.registers")
FIX = "put these lines into ~/.theanorc:\n[gcc]\ncxxflags = "
TANH = "still in use after tanh: later SSE instructions"


class Processor:
    """A processor whose upper halves some operations leave in use."""

    def __init__(self, reports: bool = True, frees: bool = True, hides: bool = False) -> None:
        self.reports, self.frees, self.hides, self.used = reports, frees, hides, 0

    def upper_halves_in_use(self) -> int:
        return self.used if self.reports else -1

    def use_upper_halves(self) -> None:
        self.used = 0 if self.hides else 1

    def free_upper_halves(self) -> None:
        self.used = 0 if self.frees else 1


HIDING = Processor(hides=True)


def run_check(
    monkeypatch: pytest.MonkeyPatch, processor: Processor, flags: str = "", output: str = ""
) -> tuple[Any, list[Any]]:
    """Return the check of three operations, and what it started; output: of that."""
    started: list[Any] = []

    def dirty() -> None:
        processor.used = 1

    def start(program: str, name: str, environ: dict[str, str]) -> Any:
        started.append((program, environ["GLIBC_TUNABLES"]))
        return SimpleNamespace(finish=lambda seconds: SimpleNamespace(output=output))

    calls = [("exp", lambda: None), ("tanh", dirty), ("Gemm", lambda: None)]
    monkeypatch.setattr(registers.process, "load_c", lambda *_: processor)
    monkeypatch.setenv("THEANORC", "~/.theanorc")
    where = context({"gcc.cxxflags": flags, "cxx": "g++"}, folder="/", start=start)
    return registers.start(where, calls)(), started


LINKER = "collect2: error: ld returned 1"
TUNABLES = "glibc.malloc.check=1:glibc.cpu.hwcaps=Prefer_No_VZEROUPPER"
CLEAN = "free after each of 3 operations"


@pytest.mark.parametrize(
    ("flags", "rest"),
    [
        ("", "-fno-ipa-ra"),
        # Those that omit VZEROUPPER are taken out.
        ("-g -mno-vzeroupper -Wall", "-g -Wall"),
        ("-g -O1 -Wall", "-g -Wall"),
        ("-g -fno-expensive-optimizations -Wall", "-g -Wall"),
    ],
)
def test_an_operation_that_leaves_upper_halves_in_use_is_named(
    flags: str, rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, started = run_check(monkeypatch, Processor(), flags)
    assert (check.status, check.fix, started) == ("fail", FIX + rest, [])
    assert check.detail.startswith(TANH)


# output: of the other process, which examines them where the C library frees them, as on
# processors without AVX-512: there every operation looked clean.
@pytest.mark.parametrize(
    ("processor", "output", "status", "detail"),
    [
        (Processor(reports=False), None, "skip", registers.UNKNOWN),
        (Processor(frees=False), None, "skip", registers.UNKNOWN),
        (HIDING, 'noise\n{"unclean": ["tanh"], "count": 3}\n', "fail", TANH),
        (HIDING, '{"unclean": [], "count": 3}', "pass", CLEAN),
        (HIDING, f'{{"unknown": "a reason"}}\n{LINKER}', "skip", "a reason"),
        (HIDING, "", None, "examines them failed: it printed nothing"),
        (HIDING, f"cannot find -lm\n{LINKER}", None, "failed: cannot find -lm"),
    ],
)
def test_other_processors(
    processor: Processor,
    output: str | None,
    status: str | None,
    detail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2")
    if status is None:
        with pytest.raises(RuntimeError, match=detail):
            run_check(monkeypatch, processor, output=output or "")
        return
    check, started = run_check(monkeypatch, processor, output=output or "")
    assert check.status == status and check.detail.startswith(detail)
    assert started == ([] if output is None else [("registers-probe", TUNABLES)])


class Context:
    """A verification that compiles in `folder`; its process compiles one module."""

    def __init__(self, folder: Path, cxx: str = "g++", modules: str | None = None) -> None:
        self.folder, self.modules = str(folder), modules
        self.verified = str(folder / "verified")
        flags = {"cxx": cxx, "base_compiledir": str(folder / "compiled")}
        self.framework = SimpleNamespace(name="theano", flag=flags.get, runs_numba=True)
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
    monkeypatch.setattr(registers.machine, "usable_cores", lambda: 2)


def test_what_the_process_has_compiled_is_taken(tmp_path: Path) -> None:
    module(tmp_path / "compiled", "tmp1", "own")
    context = Context(tmp_path)
    finish = registers.start_compiling(context)
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


def test_numba_compiles_only_where_the_environment_keeps_it(tmp_path: Path) -> None:
    context = Context(tmp_path)
    assert registers.start_compiling(context, "numba") is None
    (tmp_path / "compiled").mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "compiled/numba").symlink_to(tmp_path / "kept")
    # Another flavour's verification has kept the modules in C, and nothing of numba's.
    module(tmp_path / "verified", "tmp1")
    assert registers.start_compiling(context, "numba")
    assert context.started == [("precompile", "numba")]
    (tmp_path / "kept/product.nbi").touch()
    assert registers.start_compiling(context, "numba") is None


@pytest.mark.parametrize(
    ("cores", "options", "kept"),
    [(1, {}, False), (2, {"cxx": ""}, False), (2, {"modules": "/m"}, False), (2, {}, True)],
)
def test_nothing_is_compiled_where_it_saves_no_time(
    cores: int, options: dict[str, Any], kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as what the last verification has kept."""
    monkeypatch.setattr(registers.machine, "usable_cores", lambda: cores)
    context = Context(tmp_path, **options)
    if kept:
        module(Path(context.verified), "tmp1")
    assert registers.start_compiling(context) is None
    assert context.started == []
