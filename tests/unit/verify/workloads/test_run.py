"""The compiled cases of a workload, their calls and the report."""

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY
from unit.helpers.suite import suite_module

runs = suite_module("workloads.run")
models = suite_module("workloads.ops")
jsonschema = importlib.import_module("jsonschema")

SIGNATURE = {"signature": "a" * 12, "nodes": 3, "scans": []}


def model(name: str, **fields: Any) -> Any:
    return models.Model(name, fields.get("output"), [], {"steps": 3}, None)


class Framework:
    """A framework whose functions note their calls."""

    name, version, flags_variable, linker = "theano", "1.0.5", "THEANO_FLAGS", "cvm"
    grad_seconds = 0.25
    collects = None

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.profiling = SimpleNamespace(_atexit_print_list=["a profile"])

    def flag(self, name: str) -> str:
        return "/nowhere" if name == "compiledir" else "cpu"

    @contextmanager
    def collecting(self, is_on: bool) -> Iterator[None]:
        self.collects = is_on
        yield

    def function(
        self,
        inputs: object,
        outputs: Any,
        updates: object,
        profile: bool,
        linker: str | None,
        excluding: tuple[str, ...],
    ) -> Any:
        self.excluded = excluding
        number = len(self.calls)

        def call() -> float:
            self.calls.append("timed" if number == 0 else "profiled")
            return 1.5

        return call


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Framework:
    """Give a framework, with a workload of two cases."""
    cases = [model("first", output="a scalar"), model("second")]
    monkeypatch.setitem(runs.WORKLOADS, "pair", lambda ops, small: cases)
    monkeypatch.setattr(runs, "Ops", lambda *_, **__: None)
    monkeypatch.setattr(runs.profiles, "switched_off", lambda function: nullcontext())
    monkeypatch.setattr(runs.profiles, "forget_calls", lambda function: None)
    monkeypatch.setattr(runs.graph, "describe", lambda function: SIGNATURE)
    monkeypatch.setattr(runs.graph, "peak_of_call", lambda call: 4096)
    monkeypatch.setattr(runs.graph, "kept_bytes", lambda function: 96)
    return Framework()


def arguments(**changes: Any) -> SimpleNamespace:
    defaults = {"workload": "pair", "case": None, "small": True, "linker": None, "dtype": None}
    options = {"fix_scan": False, "profile_calls": 0}
    return SimpleNamespace(**{**defaults, **options, **changes})


def test_the_cases_take_turns_after_a_first_call(framework: Framework) -> None:
    run = runs.WorkloadRun(framework, None, arguments())
    assert framework.profiling._atexit_print_list == []
    assert len(framework.calls) == 2, "a first call of each case"
    seconds = run.call(3)
    assert sorted(seconds) == ["first", "second"]
    assert [len(samples) for samples in seconds.values()] == [3, 3]
    assert [case["name"] for case in run.compiled()] == ["first", "second"]
    assert run.compiled()[0]["compile"]["seconds"] >= 0


def test_one_case_and_an_unknown_one(framework: Framework) -> None:
    run = runs.WorkloadRun(framework, None, arguments(case="second"))
    assert [case["name"] for case in run.compiled()] == ["second"]
    both = runs.WorkloadRun(framework, None, arguments(case="second,first"))
    assert [case["name"] for case in both.compiled()] == ["first", "second"]
    with pytest.raises(runs.UnknownCaseError, match="no case third; there are: first, second"):
        runs.WorkloadRun(framework, None, arguments(case="third"))


def test_the_report_follows_its_schema(
    framework: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = SimpleNamespace(outputs=[])
    fgraph = SimpleNamespace(toposort=lambda: [node])
    monkeypatch.setattr(runs.graph, "graph_of", lambda function: fgraph)
    monkeypatch.setattr(runs.profiles, "compile_times_of", lambda profile: {"total": 1.0})
    run = runs.WorkloadRun(framework, None, arguments(workload="pair"))
    for case in run._cases:
        case.function = SimpleNamespace(profile=None)
    run._cases[0].seconds = [0.5]
    report = json.loads(json.dumps(run.report()))
    assert (report["schema"], report["fixed_scan"], report["grad_seconds"]) == (2, False, 0.25)
    assert report["cases"][1]["memory"] == {"peak": 4096, "kept": 96}
    assert report["cases"][1]["slow"] is None
    assert report["cases"][0]["output"] == 1.5 and report["cases"][1]["output"] is None
    schema = json.loads((REPOSITORY / "verify/workloads/report.schema.json").read_text())
    schema["properties"]["workload"] = {"const": "pair"}
    jsonschema.validate(report, schema)


def test_jax_gets_its_arguments_on_the_device_and_is_waited_for(
    framework: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed: list[bool] = []
    placed: list[Any] = []
    waited: list[float] = []
    monkeypatch.setattr(runs, "Ops", lambda *_, static: fixed.append(static))
    monkeypatch.setattr(runs.devices, "place_on_jax", placed.append)
    monkeypatch.setattr(runs.devices, "for_results", lambda _, value: waited.append(value))
    device = {"name": "a GPU"}
    run = runs.WorkloadRun(framework, None, arguments(linker="jax", profile_calls=5), device)
    assert fixed == [True], "one graph, which is not profiled"
    assert len(placed) == 2 and waited == [1.5, 1.5]
    run.call(1)
    assert len(waited) == 4


def test_every_program_of_a_round_has_its_models() -> None:
    rounds = importlib.import_module("verify.workloads.rounds")
    assert sorted(runs.WORKLOADS) == sorted(rounds.PROGRAMS)
