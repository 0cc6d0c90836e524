"""The check of the vector registers, on any processor."""

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

registers = importlib.import_module("verify.elementwise.registers")
native = importlib.import_module("verify.core.native")


class Processor:
    """A processor whose upper halves some operations leave in use."""

    def __init__(self, reports: bool = True, frees: bool = True) -> None:
        self.reports, self.frees, self.used = reports, frees, 0

    def upper_halves_in_use(self) -> int:
        return self.used if self.reports else -1

    def free_upper_halves(self) -> None:
        self.used = 0 if self.frees else 1


def run_check(monkeypatch: pytest.MonkeyPatch, processor: Processor, flags: str = "") -> Any:
    def dirty() -> None:
        processor.used = 1

    calls = [("exp", lambda: None), ("tanh", dirty), ("Gemm", lambda: None)]
    monkeypatch.setattr(registers.native, "load", lambda *_: processor)
    framework = SimpleNamespace(flag={"gcc.cxxflags": flags, "cxx": "g++"}.get)
    return registers.check(SimpleNamespace(framework=framework, folder="/"), calls)


def test_an_operation_that_leaves_upper_halves_in_use_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check = run_check(monkeypatch, Processor())
    assert check.status == "fail"
    assert check.detail.startswith("still in use after tanh: later SSE instructions")
    assert check.fix == "add -fno-ipa-ra to gcc.cxxflags"


@pytest.mark.parametrize("flag", ["-mno-vzeroupper", "-O1", "-fno-expensive-optimizations"])
def test_the_fix_removes_an_option_that_omits_vzeroupper(
    monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    check = run_check(monkeypatch, Processor(), f"-g {flag} -Wall")
    assert check.fix == f"remove {flag} from gcc.cxxflags, which are '-g {flag} -Wall'"


@pytest.mark.parametrize("processor", [Processor(reports=False), Processor(frees=False)])
def test_a_processor_that_does_not_report_their_use_is_skipped(
    monkeypatch: pytest.MonkeyPatch, processor: Processor
) -> None:
    check = run_check(monkeypatch, processor)
    assert (check.status, check.detail) == ("skip", registers.UNKNOWN)


def test_without_a_compiler_it_is_skipped() -> None:
    framework = SimpleNamespace(flag={"cxx": ""}.get)
    check = registers.check(SimpleNamespace(framework=framework, folder="/"), [])
    assert (check.status, check.detail) == ("skip", "the framework has no C++ compiler")
