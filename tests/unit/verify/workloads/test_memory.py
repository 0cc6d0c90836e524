"""What a call takes of the memory, and what a function keeps."""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

memory = suite_module("workloads.graph")
MEGABYTE = 1 << 20


def test_the_peak_of_a_call_is_what_it_takes_for_a_while() -> None:
    def call() -> None:
        bytearray(b"1" * (64 * MEGABYTE))

    assert 60 * MEGABYTE < memory.peak_of_call(call) < 200 * MEGABYTE
    assert memory.peak_of_call(lambda: None) < 8 * MEGABYTE


def test_a_system_without_a_peak_to_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CLEAR", "/nowhere/clear_refs")
    assert memory.peak_of_call(lambda: None) is None


def test_results_that_stay_count_once_and_inputs_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def array(size: int, base: Any = None) -> SimpleNamespace:
        return SimpleNamespace(nbytes=size, base=base)

    given, computed = SimpleNamespace(owner=None), [SimpleNamespace(owner="op") for _ in range(4)]
    parameter, result = array(1000), array(64)
    values = [result, array(32, base=result), array(1000, base=parameter), None]
    cells = {id(one): [value] for one, value in zip(computed, values, strict=True)}
    storage = SimpleNamespace(
        items=lambda: [(given, [parameter]), *((one, cells[id(one)]) for one in computed)]
    )
    functions = [SimpleNamespace(fn=SimpleNamespace(storage_map=storage)), SimpleNamespace(fn=None)]
    monkeypatch.setattr(memory.graph, "functions_in", lambda function: functions)
    assert memory.kept_bytes(None) == 64
