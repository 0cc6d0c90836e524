"""The check of the vector registers, on any processor."""

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

native = importlib.import_module("verify.core.process")


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


def run_check(
    monkeypatch: pytest.MonkeyPatch, processor: Processor, flags: str = "", start: Any = None
) -> Any:
    def dirty() -> None:
        processor.used = 1

    calls = [("exp", lambda: None), ("tanh", dirty), ("Gemm", lambda: None)]
    monkeypatch.setattr(registers.process, "load_c", lambda *_: processor)
    flag = {"gcc.cxxflags": flags, "cxx": "g++"}.get
    monkeypatch.setenv("THEANORC", "~/.theanorc")
    where = context(folder="/", start=start)
    where.framework.flag = flag
    return registers.start(where, calls)()


def ended(output: str) -> Any:
    """Return a process that has printed this."""
    return SimpleNamespace(finish=lambda seconds: SimpleNamespace(output=output))


def test_an_operation_that_leaves_upper_halves_in_use_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check = run_check(monkeypatch, Processor())
    assert check.status == "fail"
    assert check.detail.startswith("still in use after tanh: later SSE instructions")
    assert check.fix == "put these lines into ~/.theanorc:\n[gcc]\ncxxflags = -fno-ipa-ra"


@pytest.mark.parametrize("flag", ["-mno-vzeroupper", "-O1", "-fno-expensive-optimizations"])
def test_the_fix_removes_an_option_that_omits_vzeroupper(
    monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    check = run_check(monkeypatch, Processor(), f"-g {flag} -Wall")
    assert check.fix == "put these lines into ~/.theanorc:\n[gcc]\ncxxflags = -g -Wall"


@pytest.mark.parametrize("processor", [Processor(reports=False), Processor(frees=False)])
def test_a_processor_that_does_not_report_their_use_is_skipped(
    monkeypatch: pytest.MonkeyPatch, processor: Processor
) -> None:
    check = run_check(monkeypatch, processor)
    assert (check.status, check.detail) == ("skip", registers.UNKNOWN)


def test_where_the_c_library_frees_them_another_process_examines_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on processors without AVX-512: there every operation looked clean."""
    started = []

    def start(program: str, name: str, environ: dict[str, str]) -> Any:
        started.append((program, environ["GLIBC_TUNABLES"]))
        return ended('noise\n{"unclean": ["tanh"], "count": 3}\n')

    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2")
    check = run_check(monkeypatch, Processor(hides=True), start=start)
    assert check.status == "fail" and "still in use after tanh" in check.detail
    tunables = "glibc.malloc.check=1:glibc.cpu.hwcaps=Prefer_No_VZEROUPPER"
    assert started == [("registers-probe", tunables)]


@pytest.mark.parametrize(
    ("output", "status", "detail"),
    [
        ('{"unknown": "a reason"}', "skip", "a reason"),
        ("", None, "it printed nothing"),
        ("Killed", None, "examines them failed: Killed"),
        ("cannot find -lm\ncollect2: error: ld returned 1", None, "failed: cannot find -lm"),
        ('{"unknown": "a reason"}\ncollect2: error: ld returned 1', "skip", "a reason"),
    ],
)
def test_what_the_other_process_cannot_tell(
    monkeypatch: pytest.MonkeyPatch, output: str, status: str | None, detail: str
) -> None:
    def start(*words: str, environ: object) -> Any:
        return ended(output)

    if status is None:
        with pytest.raises(RuntimeError, match=detail):
            run_check(monkeypatch, Processor(hides=True), start=start)
    else:
        check = run_check(monkeypatch, Processor(hides=True), start=start)
        assert (check.status, check.detail) == (status, detail)


def test_there_they_may_be_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers.process, "load_c", lambda *_: Processor(hides=True))
    context = SimpleNamespace(framework=SimpleNamespace(flag={}.get), folder="/")
    assert registers.examine(context, []) is None


def test_without_a_compiler_it_is_skipped() -> None:
    framework = SimpleNamespace(flag={"cxx": ""}.get)
    check = registers.start(SimpleNamespace(framework=framework, folder="/"), [])()
    assert (check.status, check.detail) == ("skip", "the framework has no C++ compiler")


registers = suite_module("elementwise.registers")


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


@pytest.mark.parametrize(("cores", "options"), [(1, {}), (2, {"cxx": ""}), (2, {"modules": "/m"})])
def test_nothing_is_compiled_where_it_saves_no_time(
    cores: int, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registers.machine, "usable_cores", lambda: cores)
    context = Context(tmp_path, **options)
    assert registers.start_compiling(context) is None
    assert context.started == []


def test_nothing_is_compiled_that_the_last_verification_has_kept(tmp_path: Path) -> None:
    context = Context(tmp_path)
    Path(context.verified).mkdir()
    assert registers.start_compiling(context) is None
    assert context.started == []


def test_the_process_compiles_each_function_that_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    monkeypatch.setattr(registers.configuration, "use_compile_folder", lambda folder: None)
    monkeypatch.setattr(registers.frameworks, "load", lambda name: name)
    monkeypatch.setattr(registers.loops, "compiled", lambda *words: compiled.append(words))
    monkeypatch.setattr(registers.loops, "compiled_cases", lambda *words: compiled.append(words))
    registers.precompile(["theano", str(tmp_path)])
    assert set(compiled) >= {("theano", dtype) for dtype in registers.loops.DTYPES}
    assert set(compiled) >= {("theano", name, "float32") for name in registers.loops.FUNCTIONS}
