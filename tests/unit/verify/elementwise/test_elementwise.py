"""Loops: the vector registers on any processor, fixes of wrong numbers, timings, AMD's LibM.

Wrong numbers and libraries are found in real environments: tests/integration/test_verify_faults.py,
test_amdlibm.py and test_fixes.py. What is compiled beside other checks.
"""

import itertools
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import context
from verify.core import process
from verify.elementwise import libm, registers
from verify.elementwise import loops as numbers

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

    def start(function: str, name: str, environ: dict[str, str]) -> Any:
        started.append((function, environ["GLIBC_TUNABLES"]))
        printed = process.Done(0, "verify-result " + output, False)
        return SimpleNamespace(answer=lambda _: process.answer(printed))

    calls = [("exp", lambda: None), ("tanh", dirty), ("Gemm", lambda: None)]
    monkeypatch.setattr(registers.c_code, "load", lambda *_: processor)
    monkeypatch.setenv("THEANORC", "~/.theanorc")
    where = context({"gcc.cxxflags": flags, "cxx": "g++"}, folder="/", start=start)
    return registers.start(where, calls)(), started


TUNABLES = "glibc.malloc.check=1:glibc.cpu.hwcaps=Prefer_No_VZEROUPPER"
CLEAN = "free after each of 3 operations"


@pytest.mark.parametrize(
    ("flags", "rest"),
    [
        ("", "-fno-ipa-ra"),
        # Those that omit VZEROUPPER are taken out.
        ("-g -mno-vzeroupper -Wall", "-g -Wall"),
        ("-g -O1 -Wall", "-g -Wall"),
        # What would be the fix is the case.
        ("-fno-ipa-ra", None),
        ("-g -fno-expensive-optimizations -Wall", "-g -Wall"),
    ],
)
def test_an_operation_that_leaves_upper_halves_in_use_is_named(
    flags: str, rest: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, started = run_check(monkeypatch, Processor(), flags)
    assert (check.status, started) == ("fail", [])
    assert check.fix.startswith("not recognised" if rest is None else FIX + rest)
    assert check.detail.startswith(TANH)


# output: of the other process, which examines them where the C library frees them, as on
# processors without AVX-512: there every operation looked clean.
@pytest.mark.parametrize(
    ("processor", "output", "status", "detail"),
    [
        (Processor(reports=False), "", "skip", registers.UNKNOWN),
        (Processor(frees=False), "", "skip", registers.UNKNOWN),
        (HIDING, '{"unclean": ["tanh"], "count": 3}', "fail", TANH),
        (HIDING, '{"unclean": [], "count": 3}', "pass", CLEAN),
        (HIDING, '{"unknown": "a reason"}', "skip", "a reason"),
    ],
)
def test_other_processors(
    processor: Processor, output: str, status: str, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2")
    check, started = run_check(monkeypatch, processor, output=output)
    assert check.status == status and check.detail.startswith(detail)
    assert started == [("elementwise.registers:examined", TUNABLES)] * bool(output)


class Context:
    """A verification that compiles in `folder`; its process compiles one module."""

    def __init__(self, folder: Path, cxx: str = "g++", modules: str | None = None) -> None:
        self.folder, self.modules = str(folder), modules
        self.verified = str(folder / "verified")
        flags = {"cxx": cxx, "base_compiledir": str(folder / "compiled")}
        self.framework = SimpleNamespace(name="theano", flag=flags.get, runs_numba=True)
        self.started: list[tuple[str, str]] = []

    def start(self, function: str, name: str) -> Any:
        self.started.append((function, name))
        module(Path(self.folder, name), "tmp2")
        return SimpleNamespace(finish=lambda seconds: None)


def module(folder: Path, name: str, text: str = "module") -> Path:
    place = folder / "compiledir_Linux" / name
    place.mkdir(parents=True)
    (place / "key.pkl").write_text("key")
    (place / "m.so").write_text(text)
    return place


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers.machine, "usable_cores", lambda: 2)


@pytest.mark.usefixtures("two_cores")
def test_what_the_process_has_compiled_is_taken(tmp_path: Path) -> None:
    module(tmp_path / "compiled", "tmp1", "own")
    context = Context(tmp_path)
    finish = registers.start_compiling(context)
    assert context.started == [("elementwise.registers:precompile", "precompiled")]
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


@pytest.mark.usefixtures("two_cores")
def test_numba_compiles_only_where_the_environment_keeps_it(tmp_path: Path) -> None:
    context = Context(tmp_path)
    registers.start_compiling(context, "numba")
    assert context.started == []
    (tmp_path / "compiled").mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "compiled/numba").symlink_to(tmp_path / "kept")
    # Another flavour's verification has kept the modules in C, and nothing of numba's.
    module(tmp_path / "verified", "tmp1")
    for _ in range(2):
        registers.start_compiling(context, "numba")
        assert context.started == [("elementwise.registers:precompile", "numba")]
        (tmp_path / "kept/product.nbi").touch()


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
    registers.start_compiling(context)()
    assert context.started == []


MATRICES = [SimpleNamespace(shape=shape, size=math.prod(shape)) for shape in numbers.SHAPES]


@pytest.mark.parametrize(
    ("flags", "preloaded", "locked", "fix"),
    [
        # A compiler's option that leaves IEEE's rules; a library that the loader takes first.
        ({"gcc.cxxflags": "-O3 -ffast-math"}, "", None, "cxxflags = -O3"),
        ({"blas.ldflags": "-lblis -Ofast"}, "", None, "ldflags = -lblis"),
        ({}, "/odd/ftz.so", {"variant": "v", "framework": "f"}, "again:\nunset LD_PRELOAD"),
    ],
)
def test_what_makes_numbers_wrong_is_taken_out(
    flags: dict[str, str], preloaded: str, locked: object, fix: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("LD_PRELOAD", preloaded)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    flags = {"cxx": "g++", "compiledir": "/none", **flags}
    assert numbers._fix(context(flags, expectation=locked), None).endswith(fix)


@pytest.mark.parametrize(("full", "count", "samples"), [(False, 10, 2), (True, 20, 15)])
def test_a_quiet_machine_needs_two_samples_of_a_timing(
    full: bool, count: int, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(numbers.portable, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(numbers, "matrices", lambda dtype: MATRICES)
    monkeypatch.setattr(numbers, "compiled", lambda *_: lambda values: None)
    timings = numbers.timings(context(full=full, elementwise={}))
    names = [timing.name for timing in timings]
    assert (names[:2], len(names)) == (["exp float32 400x512", "exp float32 1e7"], count)
    assert {len(timing.samples) for timing in timings} == {samples}


@pytest.mark.parametrize(
    ("is_on", "expected", "is_checked"),
    [(False, None, False), (True, None, True), (False, "False", False), (False, "True", True)],
)
def test_the_library_is_checked_where_it_is_expected(
    is_on: bool, expected: str | None, is_checked: bool
) -> None:
    """expected: what the expectation has for the flag; None in a diagnosis."""
    locked = {"flags": {"lib.amdlibm": expected}} if expected else None
    made = context({"lib.amdlibm": is_on}, expectation=locked)
    made.framework.amdlibm_flag = "lib.amdlibm"
    assert libm.is_expected(made) is is_checked
