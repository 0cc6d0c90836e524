"""Whether the accelerator is in force, on stand-ins for Theano."""

import importlib
import sys
from types import SimpleNamespace

import pytest

accelerator = importlib.import_module("verify.checks.framework_faults")

EXPECTATION = {"accelerator": ["theano-stacks"], "variant": "v", "framework": "f"}
PARTS = ("compiler", "ops", "scan", "cache", "replaced")


class Function:
    """A compiled function, which is taken from the cache the second time."""

    def __init__(self, found: dict[str, int], hit: bool, factor: float) -> None:
        found["hits"] += hit
        self.factor = factor

    def __call__(self, values: list[float]) -> SimpleNamespace:
        return SimpleNamespace(tolist=lambda: [self.factor * value for value in values])


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Give the context of Theano 0.8.2 with the accelerator."""
    monkeypatch.delenv(accelerator.QUICK_VARIABLE, raising=False)
    found = {"hits": 0}
    for part in PARTS:
        monkeypatch.setitem(sys.modules, f"theano_stacks_{part}", SimpleNamespace(found=found))
    monkeypatch.setattr(accelerator, "_keeps_replaced_scans_out", lambda: True)
    monkeypatch.setattr(accelerator, "_has_c_code", lambda: True)
    monkeypatch.setattr(accelerator, "_gradient_nodes", lambda framework: accelerator.NODES)

    class Symbol:
        def __rmul__(self, number: float) -> float:
            return number

    made: list[Function] = []

    def function(*_: object, **__: object) -> Function:
        hits = framework.hits and bool(made)
        made.append(Function(found, hits, framework.factors[len(made)]))
        return made[-1]

    framework = SimpleNamespace(
        version="0.8.2",
        hits=True,
        factors=[7.0, 7.0],
        variable=lambda *_: Symbol(),
        function=function,
    )
    return SimpleNamespace(framework=framework, expectation=EXPECTATION)


def test_only_environments_that_have_it_are_checked() -> None:
    def expected(content: object) -> bool:
        answer: bool = accelerator.has_accelerator(SimpleNamespace(expectation=content))
        return answer

    assert expected({"accelerator": ["theano-stacks", "theano-stacks-scan"]})
    assert not any(expected(each) for each in (None, {}, {"accelerator": ["theano-stacks-scan"]}))


def test_accelerator_in_force_passes(context: SimpleNamespace) -> None:
    check = accelerator.check_accelerator(context)
    assert (check.status, check.fix) == ("pass", None)
    assert check.detail == "graphs are stored; the gradient of a scan has 66 nodes"


def test_switch_is_named(context: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANO_STACKS_QUICK", "0")
    check = accelerator.check_accelerator(context)
    assert (check.status, check.fix) == ("fail", "unset THEANO_STACKS_QUICK")


@pytest.mark.parametrize("part", PARTS)
def test_missing_part_is_named(
    context: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.delitem(sys.modules, f"theano_stacks_{part}")
    check = accelerator.check_accelerator(context)
    assert (check.status, check.detail) == ("fail", f"not in force: theano_stacks_{part}")
    if part == "replaced":
        context.framework.version = "1.0.5"
        assert accelerator.check_accelerator(context).status == "pass"


def test_part_that_was_imported_but_does_not_act_fails(
    context: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerator, "_gradient_nodes", lambda framework: 126)
    check = accelerator.check_accelerator(context)
    assert check.status == "fail" and "126 nodes instead of 66" in check.detail
    monkeypatch.setattr(accelerator, "_has_c_code", lambda: False)
    assert accelerator.check_accelerator(context).detail == "indexing by arrays has no C code"
    monkeypatch.setattr(accelerator, "_keeps_replaced_scans_out", lambda: False)
    assert "replaced scans may come back" in accelerator.check_accelerator(context).detail


def test_graph_that_is_not_found_again_fails(context: SimpleNamespace) -> None:
    context.framework.hits = False
    check = accelerator.check_accelerator(context)
    assert check.status == "fail" and "not found again" in check.detail


def test_wrong_numbers_fail(context: SimpleNamespace) -> None:
    context.framework.factors = [7.0, 6.0]
    check = accelerator.check_accelerator(context)
    assert check.status == "fail"
    assert check.detail.endswith("[0.0, 7.0, 14.0], then [0.0, 6.0, 12.0]")
