"""The flavour for a processor."""

from __future__ import annotations

import pytest

from stacks.bench import choice, machine, store
from stacks.bench.result import Run
from stacks.core.workspace import Workspace
from unit.helpers.benching import ALIKE, MACHINE, QUICK, SLOW, beside_loops, result, runs, subject

GONE = subject("gone")
USUAL, OTHER, FOREIGN = subject("openblas"), subject("mkl"), subject("blis", "theano-0.8.2")


@pytest.fixture
def workspace(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(machine, "has_processor", lambda described: described.cpu == "Here")
    return own_workspace


def keep(workspace: Workspace, usual: list[float], other: list[float], **more: object) -> None:
    found: list[Run] = runs(USUAL, usual, name=choice.MEASURE)
    found += runs(OTHER, other, name=choice.MEASURE)
    found += runs(FOREIGN, [1000.0] * 7, name=choice.MEASURE)
    found += runs(GONE, [1000.0] * 7, name=choice.MEASURE)
    store.write(workspace, result(found, USUAL, OTHER, FOREIGN, GONE, **more))


def test_a_flavour_that_is_clearly_faster_here_is_recommended(workspace: Workspace) -> None:
    keep(workspace, SLOW, QUICK)
    variant, reason = choice.recommended(workspace)
    assert variant.id == "theano-1.0.5/mkl"
    assert reason == (
        "Gemm float64 2000, GFLOP/s on this processor (2026-11-21): openblas 40.0, mkl 100"
    )


def test_openblas_is_recommended_where_none_is_clearly_faster(workspace: Workspace) -> None:
    keep(workspace, QUICK, ALIKE)
    variant, reason = choice.recommended(workspace)
    assert variant.id == "theano-1.0.5/openblas" and "openblas 100, mkl 101" in reason


def test_no_flavour_for_a_device_is_recommended(workspace: Workspace) -> None:
    device = subject("gpuarray-cuda")
    found = runs(USUAL, SLOW, name=choice.MEASURE) + runs(device, QUICK, name=choice.MEASURE)
    store.write(workspace, result(found, USUAL, device))
    assert choice.recommended(workspace)[0].name == "openblas"


def test_the_newest_result_of_this_processor_counts(workspace: Workspace) -> None:
    keep(workspace, QUICK, SLOW)
    keep(workspace, SLOW, QUICK, began="2026-11-22T05:30:00Z")
    other = MACHINE.model_copy(update={"cpu": "Elsewhere", "name": "elsewhere"})
    keep(workspace, QUICK, SLOW, began="2026-11-23T05:30:00Z", machine=other)
    assert choice.recommended(workspace)[0].name == "mkl"


def test_without_a_result_of_this_processor_it_is_openblas(workspace: Workspace) -> None:
    assert choice.recommended(workspace)[1] == choice.UNKNOWN
    variant, reason = choice.recommended(workspace, "pytensor-3.3.7")
    assert (variant.id, reason) == ("pytensor-3.3.7/openblas", choice.UNKNOWN)


def keep_busy(workspace: Workspace, usual: list[float], other: list[float], **more: object) -> None:
    found = runs(USUAL, usual, name="mlp step", unit="s")
    found += runs(OTHER, other, name="mlp step", unit="s")
    store.write(workspace, result(beside_loops(found), USUAL, OTHER, **more))


def test_a_flavour_that_is_slower_beside_busy_loops_is_not_recommended(
    workspace: Workspace,
) -> None:
    keep(workspace, SLOW, QUICK)
    keep_busy(workspace, [0.1] * 7, [0.1] * 7)
    assert choice.recommended(workspace)[0].name == "mkl"
    keep_busy(workspace, [0.1] * 7, [0.2] * 7, began="2026-11-24T05:30:00Z")
    variant, reason = choice.recommended(workspace)
    assert variant.name == "openblas"
    assert reason.endswith(
        "openblas 40.0, mkl 100; but openblas is faster than mkl in mlp step beside 2 busy loops, "
        "2 threads"
    )


def test_a_product_beside_busy_loops_is_no_idle_one(workspace: Workspace) -> None:
    found = [*runs(USUAL, SLOW, name=choice.MEASURE), *runs(OTHER, QUICK, name=choice.MEASURE)]
    store.write(workspace, result(beside_loops(found), USUAL, OTHER))
    assert choice.recommended(workspace)[1] == choice.UNKNOWN
