"""The flavour for a processor: by timing the built ones, and by stored results."""

import dataclasses
from pathlib import Path

import pytest

from stacks.bench import candidates, recommend, store
from stacks.bench.result import Run
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from unit.helpers.benching import (
    ALIKE,
    MACHINE,
    QUICK,
    SLOW,
    beside_loops,
    candidate,
    kernels_of,
    result,
    runs,
    subject,
)


def test_the_built_and_verified_variants_are_timed_and_shown(
    own_workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kernels_of(tmp_path)
    two = [dataclasses.replace(candidate(name), place=tmp_path) for name in ("mkl", "blis")]
    broken = candidate("openblas", report={"ok": False})
    monkeypatch.setattr(candidates, "candidates", lambda *_: [*two, broken])
    recommend.recommend(own_workspace, [broken.variant], 5)
    output = capsys.readouterr()
    assert "left out: theano-1.0.5/openblas: not verified" in output.err
    assert "no clear winner: mkl, blis differ only by noise" in output.out
    assert store.read_all(own_workspace) == ([], []), "nothing is stored"
    with pytest.raises(UsageError, match="too few rounds"):
        recommend.recommend(own_workspace, [broken.variant], 2)
    monkeypatch.setattr(candidates, "candidates", lambda *_: [two[0], broken])
    with pytest.raises(UsageError, match=r"(?s)fewer than two.*found: +mkl\n.*invoke build"):
        recommend.recommend(own_workspace, [broken.variant])


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
    [("GenuineIntel", cores, cores >= 4) for cores in (2, 4, 8, 16, 64)]
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
