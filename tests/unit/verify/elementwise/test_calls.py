"""Calls of the operations that compile."""

from types import SimpleNamespace

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

calls = suite_module("elementwise.registers")


def test_calls_of_operations_that_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    operations = calls.blas_operations

    def compiled(context: object, operation: SimpleNamespace, dtype: str) -> SimpleNamespace:
        return SimpleNamespace(
            function=lambda *values: values if operation.name == "Gemv" else None
        )

    def build(framework: object, dtype: str) -> tuple[list[SimpleNamespace], None]:
        return [SimpleNamespace(ndim=2), SimpleNamespace(ndim=1)], None

    monkeypatch.setattr(calls.numpy, "ones", lambda shape, dtype: (shape, dtype), raising=False)
    monkeypatch.setattr(calls.elementwise_speed, "compiled", lambda *_: lambda values: values)
    monkeypatch.setattr(operations, "OPERATIONS", [operations.Operation("Gemv", (), build)])
    monkeypatch.setattr(operations, "compiled", compiled)
    where = context(elementwise={})
    called = {name: call() for name, call in calls.calls_of(where)}
    assert called["sqr"] == ((16, 16), "float32")
    assert called["Gemv float64"] == (((16, 16), "float64"), ((16,), "float64"))

    monkeypatch.setattr(operations, "compiled", lambda *_: SimpleNamespace(function=None))
    assert [name for name, _ in calls.calls_of(where)] == list(calls.ELEMENTWISE)
