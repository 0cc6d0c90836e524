"""The flavour for a processor: by timing the built ones, and by stored results."""

from __future__ import annotations

import pytest

from stacks.bench import candidates, recommend, rounds, store
from stacks.bench import rows as bench_rows
from stacks.bench.candidates import Candidate
from stacks.bench.result import Run
from stacks.bench.schedule import Plan
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from unit.helpers.benching import (
    ALIKE,
    MACHINE,
    QUICK,
    SLOW,
    beside_loops,
    candidate,
    result,
    runs,
    subject,
)

BASE, MKL, BLIS, BROKEN = (
    candidate("pip-default"),
    candidate("mkl"),
    candidate("blis"),
    candidate("openblas", report={"ok": False}),
)


def timed(*pairs: tuple[Candidate, list[float]]) -> list[Run]:
    return [run for of, values in pairs for run in runs(of.subject, values)]


IDLE = timed((MKL, QUICK), (BLIS, ALIKE))
ALIKE_HERE = "Gemm, 2 threads: no clear winner: mkl, blis differ only by noise"


@pytest.mark.parametrize(
    ("found", "chosen", "sentences"),
    [
        (
            timed((BASE, SLOW), (MKL, QUICK), (BLIS, SLOW)),
            [BASE, MKL, BLIS],
            ["Gemm, 2 threads: mkl is the fastest"],
        ),
        (IDLE, [MKL, BLIS], [ALIKE_HERE]),
        # The baseline is no choice.
        (
            timed((BASE, [x * 2 for x in QUICK]), (MKL, SLOW), (BLIS, QUICK)),
            [BASE, MKL, BLIS],
            ["Gemm, 2 threads: blis is the fastest"],
        ),
        (
            timed((BASE, SLOW), (MKL, QUICK)),
            [BASE, MKL],
            ["mkl is the only verified variant for the processor besides the baseline"],
        ),
        (
            [*IDLE, *beside_loops(timed((MKL, SLOW), (BLIS, QUICK)))],
            [MKL, BLIS],
            [
                ALIKE_HERE,
                "Gemm beside 2 busy loops, 2 threads: blis is the fastest",
                "Gemm, 2 threads: the fastest idle and beside 2 busy loops: blis",
            ],
        ),
    ],
)
def test_the_fastest_is_named(
    found: list[Run], chosen: list[Candidate], sentences: list[str]
) -> None:
    assert recommend.winner_sentences(found, chosen) == sentences


def test_less_than_twice_the_baseline_is_a_warning() -> None:
    found = timed((BASE, SLOW), (MKL, [x * 1.5 for x in SLOW]), (BLIS, QUICK))
    rows = bench_rows.rows(found, [one.subject for one in (BASE, MKL, BLIS)])
    warning = "Gemm: mkl is only 1.50 times as fast as pip-default"
    assert recommend.warnings(rows, [BASE, MKL, BLIS]) == [warning]
    # Two good libraries differ by less, which is no fault of either.
    assert recommend.warnings(rows, [MKL, BLIS]) == []


def test_nothing_to_choose_from(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "candidates", lambda workspace, variants: [MKL, BROKEN])
    for more, message in (
        ({}, r"(?s)fewer than two.*found: +mkl\n.*invoke build"),
        ({"round_count": 2}, "too few rounds"),
        ({"busy": -1}, "--busy is a positive number"),
    ):
        with pytest.raises(UsageError, match=message):
            recommend.recommend(workspace, [MKL.variant], **more)


def test_a_variant_that_did_not_verify_is_never_timed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planned: list[Plan] = []

    def run(plan: Plan) -> rounds.Timed:
        planned.append(plan)
        return rounds.Timed(timed((BASE, SLOW), (MKL, QUICK)), [], pinned=True)

    monkeypatch.setattr(candidates, "candidates", lambda workspace, variants: [BASE, MKL, BROKEN])
    monkeypatch.setattr(rounds, "run", run)
    recommend.recommend(workspace, [MKL.variant])
    assert [c.variant.name for c in planned[0].candidates] == ["pip-default", "mkl"]
    output = capsys.readouterr()
    assert "left out: theano-1.0.5/openblas: not verified" in output.err
    assert "mkl is the only verified variant" in output.out
    recommend.recommend(workspace, [MKL.variant], busy=2)
    assert [(plan.options.workload, plan.options.busy) for plan in planned] == [
        ("gemm", 0), ("gemm,mlp", 0), ("gemm,mlp", 2)
    ]  # fmt: skip


GONE, USUAL, OTHER = subject("gone"), subject("openblas"), subject("mkl")
FOREIGN, DEVICE = subject("blis", "theano-0.8.2"), subject("gpuarray-cuda")
LATER = "2026-11-24T05:30:00Z"


def keep(workspace: Workspace, usual: list[float], other: list[float], **more: object) -> None:
    """Store a result in which flavours that are no choice are the fastest."""
    found: list[Run] = runs(OTHER, other, name=recommend.MEASURE)
    found += runs(USUAL, usual, name=recommend.MEASURE)
    for each in (FOREIGN, GONE, DEVICE):
        found += runs(each, [1000.0] * 7, name=recommend.MEASURE)
    store.write(workspace, result(found, USUAL, OTHER, FOREIGN, GONE, DEVICE, **more))


def keep_busy(workspace: Workspace, usual: list[float], other: list[float], **more: object) -> None:
    found = runs(USUAL, usual, name="mlp step", unit="s")
    found += runs(OTHER, other, name="mlp step", unit="s")
    store.write(workspace, result(beside_loops(found), USUAL, OTHER, **more))


def test_a_flavour_that_is_clearly_faster_here_is_recommended(own_workspace: Workspace) -> None:
    keep(own_workspace, SLOW, QUICK)
    variant, reason = recommend.recommended(own_workspace, here=MACHINE)
    assert variant.id == "theano-1.0.5/mkl"
    assert reason == (
        "Gemm float64 2000, GFLOP/s on such a machine (2026-11-21): openblas 40.0, mkl 100"
    )
    # The newest result of this processor counts.
    keep(own_workspace, QUICK, ALIKE, began=LATER)
    others: list[dict[str, object]] = [{"model": "1 2 4"}, {"cores": 4}, {"cores": 16}]
    for number, more in enumerate(others):
        there = MACHINE.model_copy(update={**more, "name": "elsewhere"})
        keep(own_workspace, SLOW, QUICK, began=f"2026-11-25T05:3{number}:00Z", machine=there)
    variant, reason = recommend.recommended(own_workspace, here=MACHINE)
    assert variant.id == "theano-1.0.5/openblas" and "openblas 100, mkl 101" in reason


@pytest.mark.parametrize(
    ("vendor", "cores", "tries_mkl"),
    [("GenuineIntel", cores, cores >= 8) for cores in (2, 4, 8, 16, 64)]
    + [("AuthenticAMD", 64, False)],
)
def test_many_cores_of_intel_get_advice(
    own_workspace: Workspace, vendor: str, cores: int, tries_mkl: bool
) -> None:
    keep(own_workspace, QUICK, SLOW, machine=MACHINE.model_copy(update={"vendor": vendor}))
    here = MACHINE.model_copy(update={"vendor": vendor, "cores": cores})
    variant, reason = recommend.recommended(own_workspace, here=here)
    assert variant.name == "openblas"
    assert (recommend.UNKNOWN in reason) == (cores > 2)
    assert ("--variant mkl" in reason) == tries_mkl


def test_without_a_result_of_this_processor_it_is_openblas(own_workspace: Workspace) -> None:
    busy = [*runs(USUAL, SLOW, name=recommend.MEASURE), *runs(OTHER, QUICK, name=recommend.MEASURE)]
    store.write(own_workspace, result(beside_loops(busy), USUAL, OTHER))
    assert recommend.recommended(own_workspace, here=MACHINE)[1] == recommend.UNKNOWN
    variant, reason = recommend.recommended(own_workspace, "pytensor-3.3.7", MACHINE)
    assert (variant.id, reason) == ("pytensor-3.3.7/openblas", recommend.UNKNOWN)


def test_a_flavour_that_is_slower_beside_busy_loops_is_not_recommended(
    own_workspace: Workspace,
) -> None:
    keep(own_workspace, SLOW, QUICK)
    keep_busy(own_workspace, [0.1] * 7, [0.1] * 7)
    assert recommend.recommended(own_workspace, here=MACHINE)[0].name == "mkl"
    keep_busy(own_workspace, [0.1] * 7, [0.2] * 7, began=LATER)
    variant, reason = recommend.recommended(own_workspace, here=MACHINE)
    assert variant.name == "openblas"
    assert reason.endswith(
        "openblas 40.0, mkl 100; but openblas is faster than mkl in mlp step beside 2 busy loops, "
        "2 threads"
    )
