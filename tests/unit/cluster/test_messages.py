from __future__ import annotations

from stacks.bench.options import BenchOptions
from stacks.cluster.messages import Answer, Order, Outcome, RemoteError
from stacks.core.errors import UsageError
from unit.helpers.benching import BASE, result, runs
from unit.helpers.cluster import ORDER


def test_an_order_and_its_answer_travel_whole() -> None:
    order = ORDER.model_copy(
        update={"timing": BenchOptions(workload="gemm", rounds=5, threads="1-2", quick=True)}
    )
    assert Order.model_validate_json(order.model_dump_json()) == order
    outcome = Outcome(
        variant="f/v", status="failed", error=RemoteError(what="w"), report={"ok": False}
    )
    answer = Answer(outcomes=(outcome,), result=result(runs(BASE, [1.0] * 5), BASE))
    assert Answer.model_validate_json(answer.model_dump_json(by_alias=True)) == answer
    assert not answer.complete
    assert Answer(outcomes=(Outcome(variant="f/v", status="no device"),)).complete


def test_an_error_comes_back_with_the_machine_that_met_it() -> None:
    error = RemoteError.of(UsageError("no such thing", expected=1, fix="do this")).to_error("a-1")
    assert str(error) == "a-1: no such thing\n  expected: 1\n  fix:      do this"
