"""What is said of the vector registers, whatever this processor is."""

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

registers = importlib.import_module("verify.elementwise.registers")
native = importlib.import_module("verify.core.native")


class Processor:
    """One whose upper halves some operations leave in use."""

    def __init__(self, tells: bool = True, frees: bool = True) -> None:
        self.tells, self.frees, self.used = tells, frees, 0

    def upper_halves_in_use(self) -> int:
        return self.used if self.tells else -1

    def free_upper_halves(self) -> None:
        self.used = 0 if self.frees else 1


def found(monkeypatch: pytest.MonkeyPatch, processor: Processor, flags: str = "") -> Any:
    def dirty() -> None:
        processor.used = 1

    calls = [("exp", lambda: None), ("tanh", dirty), ("Gemm", lambda: None)]
    monkeypatch.setattr(registers.native, "load", lambda *_: processor)
    framework = SimpleNamespace(flag={"gcc.cxxflags": flags, "cxx": "g++"}.get)
    return registers.check(SimpleNamespace(framework=framework, folder="/"), calls)


def test_the_operation_that_leaves_them_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    check = found(monkeypatch, Processor())
    assert check.status == "fail"
    assert check.detail.startswith("still in use after tanh: SSE instructions that come then")
    assert check.fix == "add -fno-ipa-ra to gcc.cxxflags"


@pytest.mark.parametrize("flag", ["-mno-vzeroupper", "-O1", "-fno-expensive-optimizations"])
def test_an_option_that_asks_for_it_is_to_go(monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    check = found(monkeypatch, Processor(), f"-g {flag} -Wall")
    assert check.fix == f"take {flag} out of gcc.cxxflags, which are '-g {flag} -Wall'"


@pytest.mark.parametrize("processor", [Processor(tells=False), Processor(frees=False)])
def test_a_processor_that_does_not_tell(
    monkeypatch: pytest.MonkeyPatch, processor: Processor
) -> None:
    check = found(monkeypatch, processor)
    assert (check.status, check.detail) == ("skip", registers.UNTOLD)


def test_without_a_compiler() -> None:
    framework = SimpleNamespace(flag={"cxx": ""}.get)
    check = registers.check(SimpleNamespace(framework=framework, folder="/"), [])
    assert (check.status, check.detail) == ("skip", "the framework has no C++ compiler")
