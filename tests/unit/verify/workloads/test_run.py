"""The compiled cases of a workload and their calls."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

runs = suite_module("workloads.run")
Model = suite_module("workloads.ops").Model


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a framework whose functions return 1.5, with a workload of two cases."""
    cases = [Model(name, "a scalar", [], {"steps": 3}) for name in ("first", "second")]
    monkeypatch.setitem(runs.WORKLOADS, "pair", lambda ops, small: cases)
    monkeypatch.setattr(runs, "Ops", lambda *_, **__: None)
    for name in ("switched_off", "forget_calls"):
        monkeypatch.setattr(runs.profiles, name, lambda function: nullcontext())
    monkeypatch.setattr(runs.graph, "describe", lambda function: {"signature": "a"})
    return SimpleNamespace(
        profiling=SimpleNamespace(_atexit_print_list=["a profile"]),
        flag=lambda name: "/nowhere",
        collecting=lambda is_on: nullcontext(),
        function=lambda *_: lambda: 1.5,
    )


def run(framework: Any, device: object = None, **changes: Any) -> Any:
    defaults = {"workload": "pair", "case": None, "small": True, "linker": None, "dtype": None}
    arguments = SimpleNamespace(**{**defaults, "profile_calls": 0, **changes})
    return runs.WorkloadRun(framework, None, arguments, device)


def names(made: Any) -> list[str]:
    return [case["name"] for case in made.compiled()]


def test_the_cases_take_turns_after_a_first_call(framework: Any) -> None:
    made = run(framework)
    assert framework.profiling._atexit_print_list == []
    seconds = made.call(3)
    assert {name: len(samples) for name, samples in seconds.items()} == {"first": 3, "second": 3}
    assert made.compiled()[0]["compile"]["seconds"] >= 0


def test_some_cases_and_an_unknown_one(framework: Any) -> None:
    assert names(run(framework, case="second")) == ["second"]
    assert names(run(framework, case="second,first")) == ["first", "second"]
    with pytest.raises(OSError, match="no case third; there are: first, second"):
        run(framework, case="third")


def test_jax_gets_its_arguments_on_the_device_and_is_waited_for(
    framework: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed: list[bool] = []
    placed: list[Any] = []
    waited: list[float] = []
    monkeypatch.setattr(runs, "Ops", lambda *_, static: fixed.append(static))
    monkeypatch.setattr(runs.devices, "place_on_jax", placed.append)
    monkeypatch.setattr(runs.devices, "for_results", lambda _, value: waited.append(value))
    made = run(framework, {"name": "a GPU"}, linker="jax", profile_calls=5)
    assert fixed == [True], "one graph, which is not profiled"
    assert len(placed) == 2 and waited == [1.5, 1.5]
    made.call(1)
    assert len(waited) == 4
