from __future__ import annotations

import pytest

from stacks.bench import candidates, recommend, rounds, schedule
from stacks.bench import rows as bench_rows
from stacks.bench.candidates import Candidate
from stacks.bench.result import Run
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from unit.helpers.benching import beside_loops, candidate, runs

SLOW = [40.0, 41, 39, 40, 42, 40, 41]
FAST = [100.0, 104, 98, 101, 103, 99, 100]
ALIKE = [101.0, 103, 99, 100, 104, 98, 101]


BASE, MKL, BLIS, BROKEN = (
    candidate("pip-default"),
    candidate("mkl"),
    candidate("blis"),
    candidate("openblas", report={"ok": False}),
)


def timed(*pairs: tuple[Candidate, list[float]]) -> list[Run]:
    return [run for of, values in pairs for run in runs(of.subject, values)]


def test_the_fastest_is_named() -> None:
    found = timed((BASE, SLOW), (MKL, FAST), (BLIS, [x * 0.8 for x in FAST]))
    assert recommend.winner_sentences(found, [BASE, MKL, BLIS]) == [
        "Gemm, 2 threads: mkl is the fastest"
    ]


def test_equally_fast_variants_have_no_winner() -> None:
    (output,) = recommend.winner_sentences(timed((MKL, FAST), (BLIS, ALIKE)), [MKL, BLIS])
    assert "no clear winner: mkl, blis differ only by noise" in output


def test_the_baseline_is_no_choice() -> None:
    found = timed((BASE, [x * 2 for x in FAST]), (MKL, SLOW), (BLIS, FAST))
    assert recommend.winner_sentences(found, [BASE, MKL, BLIS]) == [
        "Gemm, 2 threads: blis is the fastest"
    ]
    alone = recommend.winner_sentences(timed((BASE, SLOW), (MKL, FAST)), [BASE, MKL])
    assert alone == ["mkl is the only verified variant for the processor besides the baseline"]


def test_less_than_twice_the_baseline_is_a_warning() -> None:
    found = timed((BASE, SLOW), (MKL, [x * 1.5 for x in SLOW]), (BLIS, FAST))
    rows = bench_rows.rows(found, [one.subject for one in (BASE, MKL, BLIS)])
    warning = "Gemm: mkl is only 1.50 times as fast as pip-default"
    assert recommend.warnings(rows, {BASE.variant.id}) == [warning]
    # Two good libraries differ by less, which is no fault of either.
    assert recommend.warnings(rows, ()) == []


def test_nothing_to_choose_from(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "candidates", lambda workspace, variants: [MKL, BROKEN])
    with pytest.raises(UsageError, match=r"(?s)fewer than two.*found: +mkl\n.*invoke build"):
        recommend.recommend(workspace, [MKL.variant])
    with pytest.raises(UsageError, match="too few rounds"):
        recommend.recommend(workspace, [MKL.variant], rounds_wanted=2)


def test_a_variant_that_did_not_verify_is_never_timed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planned: list[schedule.Plan] = []

    def run(plan: schedule.Plan) -> rounds.Timed:
        planned.append(plan)
        return rounds.Timed(timed((BASE, SLOW), (MKL, FAST)), [], pinned=True)

    monkeypatch.setattr(candidates, "candidates", lambda workspace, variants: [BASE, MKL, BROKEN])
    monkeypatch.setattr(rounds, "run", run)
    recommend.recommend(workspace, [MKL.variant])
    assert [c.variant.name for c in planned[0].candidates] == ["pip-default", "mkl"]
    output = capsys.readouterr()
    assert "left out: theano-1.0.5/openblas: not verified" in output.err
    assert "mkl is the only verified variant" in output.out
    recommend.recommend(workspace, [MKL.variant], busy=2)
    assert [(plan.options.workloads, plan.options.busy) for plan in planned] == [
        (("gemm",), 0),
        (("gemm", "mlp"), 0),
        (("gemm", "mlp"), 2),
    ]


def test_idle_and_busy_are_weighed() -> None:
    found = timed((MKL, FAST), (BLIS, ALIKE))
    assert recommend.winner_sentences(
        [*found, *beside_loops(timed((MKL, SLOW), (BLIS, FAST)))], [MKL, BLIS]
    )[1:] == [
        "Gemm beside 2 busy loops, 2 threads: blis is the fastest",
        "Gemm, 2 threads: the fastest idle and beside 2 busy loops: blis",
    ]
