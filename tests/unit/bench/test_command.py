"""The bench from its options to its file: which variants and options, what is stored, shown."""

import dataclasses
import os
from typing import Any

import pytest

from stacks.bench import candidates, command, store
from stacks.bench.candidates import Candidate, choose_candidates, require_candidates
from stacks.bench.result import Device, describe_machine
from stacks.bench.schedule import BenchOptions, Plan
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of
from stacks.environments.make import settings
from stacks.locks import lock
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.benching import (
    BASE,
    LOCK,
    PASSED,
    SLOW,
    beside_loops,
    candidate,
    kernels_of,
    plan,
    result,
    runs,
    write_report,
    written,
)
from verify.core import machine

GPU = {"name": "NVIDIA H100, compute capability 9.0", "driver": "CUDA 13.0", "where": "cuda0"}
ON_GPU = {**PASSED, "device": GPU}
GEMM_ALONE = BenchOptions(workload="gemm", rounds=5, threads="1")


@pytest.fixture
def built(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a workspace in which openblas is built, from LOCK."""
    place = own_workspace.environments / "theano-1.0.5/openblas"
    (place / settings.EXPECTATION).parent.mkdir(parents=True)
    (place / settings.EXPECTATION).write_text("{}")
    here = PASSED["machine"]
    monkeypatch.setattr(folders, "is_ready", lambda *of: folder_of(*of[:2]).is_dir())
    monkeypatch.setattr(lock, "current", lambda workspace, variant: LOCK)
    monkeypatch.setattr(candidates, "is_here", lambda report: report["machine"] == here)
    return own_workspace


@pytest.fixture
def openblas(built: Workspace) -> Variant:
    return load_variant(built, "openblas", "theano-1.0.5")


@pytest.mark.parametrize(
    ("text", "usable", "counts"),
    # Of 64, which a container's limit bounds.
    [
        ("", 1, (1,)),
        ("", 6, (1, 2, 4, 6)),
        ("", 64, (1, 2, 4, 8, 16, 32, 64)),
        ("1-3,2,64", 4, (1, 2, 3, 64)),
    ],
)
def test_counts_of_threads(text: str, usable: int, counts: tuple[int, ...]) -> None:
    assert BenchOptions(threads=text).thread_counts(usable, 64) == counts


def order(of: Plan) -> str:
    """Return `START.ROUND VARIANT` of each turn."""
    return ", ".join(f"{t.start}.{t.round} {t.candidate.variant.name}" for t in of.turns())


def test_each_round_times_each_variant_once_and_another_one_first() -> None:
    of = plan("blis", "mkl", "openblas", threads=(2,), rounds=2)
    assert order(of) == (
        "1.0 blis, 1.0 mkl, 1.0 openblas, 1.1 blis, 1.1 mkl, 1.1 openblas, "
        "2.0 mkl, 2.0 openblas, 2.0 blis, 2.2 mkl, 2.2 openblas, 2.2 blis"
    )
    # A program starts before its rounds.
    assert order(plan("blis", "mkl", workload="ntm", rounds=3, starts=2)) == (
        "1.0 blis, 1.0 mkl, 1.1 blis, 1.1 mkl, 1.2 mkl, 1.2 blis, "
        "2.0 mkl, 2.0 blis, 2.3 blis, 2.3 mkl"
    )
    by_workload = [
        (turn.workload, turn.threads)
        for turn in plan("blis", workload="gemm,elementwise", rounds=1).turns()
        if turn.round
    ]
    assert by_workload == [("gemm", 1), ("gemm", 2), ("elementwise", 1)]


@pytest.mark.parametrize(
    ("workload", "options", "starts", "counts"),
    [
        ("ntm", {}, 1, (2,)),
        ("ntm", {"starts": 9, "threads": "1,2"}, 5, (1, 2)),
        ("lstm", {}, 5, (1, 2)),
        ("check_blas", {"starts": 2}, 1, (1, 2)),
        ("check_blas", {"starts": 2, "quick": False}, 2, (1, 2)),
        ("gemm", {"starts": 2}, 5, (1, 2)),
    ],
)
def test_slow_programs_start_once_on_all_threads(
    workload: str, options: dict[str, Any], starts: int, counts: tuple[int, ...]
) -> None:
    of = plan("blis", workload=workload, rounds=5)
    chosen = of.options.model_copy(update=options)
    found = list(dataclasses.replace(of, options=chosen).turns())
    assert max(turn.start for turn in found) == starts
    assert tuple(dict.fromkeys(turn.threads for turn in found)) == counts


def test_the_defaults_of_the_options() -> None:
    assert BenchOptions().workloads == ("gemm", "elementwise")
    assert BenchOptions(workload=" gemm, mlp,gemm,,").workloads == ("gemm", "mlp")
    assert (BenchOptions().round_count, BenchOptions(quick=True).round_count) == (11, 9)
    assert BenchOptions(rounds=5, quick=True).round_count == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": 2}, "too few rounds"),
        ({"limit": -1}, "positive numbers"),
        ({"busy": -1}, "positive numbers"),
        ({"workload": "gem"}, "gem"),
        ({"threads": "x"}, "not a list"),
        ({"threads": "3-"}, "not a list"),
        ({"threads": "0"}, "outside the usable processors"),
        ({"threads": "9999"}, "outside the usable processors"),
    ],
)
def test_impossible_options_are_refused(
    own_workspace: Workspace, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        options = BenchOptions(**{"workload": "gemm", **arguments})
        command.timed(own_workspace, [candidate("mkl")], options)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (
            [candidate("mkl"), candidate("mkl")],
            r"two variants are named theano-1\.0\.5/mkl\n  fix: ",
        ),
        (
            [candidate("gpuarray", report=ON_GPU)],
            r"elementwise: theano-1\.0\.5/gpuarray computes on a device",
        ),
    ],
)
def test_variants_that_are_not_timed_together(
    own_workspace: Workspace, chosen: list[Candidate], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        command.timed(own_workspace, chosen, BenchOptions())


def test_the_bench_from_its_options_to_its_file(
    built: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(built, PASSED)
    kernels_of(built.environments / "theano-1.0.5/openblas")
    command.bench(built, "openblas", "theano-1.0.5", options=GEMM_ALONE)
    ((path, one),) = [(one.path, one.result) for one in store.read_all(built)[0]]
    assert one.machine == describe_machine([PASSED]) and one.settings.rounds == 5
    assert len(one.runs) == 5 and one.subjects[0].lock == LOCK.sha256
    output = capsys.readouterr()
    assert "Gemm" in output.out and f"stored in {path.relative_to(built.root)}" in output.err


def test_what_a_reader_must_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "quota_and_file", lambda: (None, None))
    assert command.remarks(runs(BASE, [1.0]), pinned=True) == []
    monkeypatch.setattr(machine, "quota_and_file", lambda: (0.5, None))
    limit, pinning = command.remarks([], pinned=False)
    assert limit.startswith("a container's limit allows 0.5 of ")
    assert pinning == "the system did not allow pinning runs to processors"


def test_results_are_shown_with_warnings(
    own_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(own_workspace, remarks=("other programs were busy",))
    (path.parent / "cut.json").write_text("{")
    command.show_results(own_workspace)
    output = capsys.readouterr()
    assert "Here, 2 cores; 7 rounds, begun 2026-11-21T05:30:00Z" in output.out
    assert "note: other programs were busy" in output.out
    assert "warning: " in output.err and "cut off or broken" in output.err
    with pytest.raises(UsageError, match="unknown machine"):
        command.show_results(own_workspace, "other")
    path.unlink()
    with pytest.raises(UsageError, match="no results"):
        command.show_results(own_workspace)


def test_the_last_results_idle_and_busy_are_both_shown(
    own_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    idle = result(runs(BASE, SLOW), BASE)
    settings = idle.settings.model_copy(update={"busy": 2})
    for day, one in enumerate((idle, idle, idle.model_copy(update={"settings": settings})), 1):
        found = beside_loops(one.runs) if one.settings.busy else one.runs
        began = f"2026-11-{day:02}T05:30:00Z"
        update = {"began": began, "runs": tuple(found)}
        store.write(own_workspace, one.model_copy(update=update))
    command.show_results(own_workspace)
    output = capsys.readouterr().out
    assert output.count("\nGemm, 2 threads, GFLOP/s\n") == 1 and "begun 2026-11-02" in output
    assert output.count("\nGemm beside 2 busy loops, 2 threads, GFLOP/s\n") == 1
    command.show_results(own_workspace, "here-2-cores")
    assert capsys.readouterr().out.count("\nGemm, 2 threads, GFLOP/s\n") == 2


NOT_VERIFIED = "not verified on this machine since it was built"


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (None, NOT_VERIFIED),
        ({**PASSED, "ok": False}, "its verification failed"),
        ({**PASSED, "packages": []}, NOT_VERIFIED),
        ({**PASSED, "machine": {"cpu": "There"}}, NOT_VERIFIED),
    ],
    ids=["none", "failed", "of another lock", "of another machine"],
)
def test_only_verified_variants_are_timed(
    built: Workspace, openblas: Variant, report: dict[str, Any] | None, message: str
) -> None:
    if report:
        write_report(built, report)
    with pytest.raises(
        UsageError, match=rf"{message}.*\n  fix: +./invoke verify --variant openblas"
    ):
        require_candidates(built, [openblas])
    with pytest.raises(UsageError, match="nothing to time"):
        choose_candidates(built, (), "theano-1.0.5")
    path = write_report(built, PASSED)
    for found in (
        require_candidates(built, [openblas]),
        choose_candidates(built, (), "theano-1.0.5"),
    ):
        assert [one.variant.id for one in found] == ["theano-1.0.5/openblas"]
    os.utime(path, (1, 1))
    with pytest.raises(UsageError, match=NOT_VERIFIED):
        require_candidates(built, [openblas])


def test_a_variant_whose_device_was_missing_is_not_timed(
    built: Workspace, openblas: Variant
) -> None:
    variant = openblas.model_copy(update={"device": "opencl"})
    write_report(built, PASSED)
    with pytest.raises(UsageError, match="its device was not available when it was verified"):
        require_candidates(built, [variant])
    write_report(built, ON_GPU)
    [found] = require_candidates(built, [variant])
    assert found.subject.device == Device(name=GPU["name"], driver="CUDA 13.0")


def test_variants_that_cannot_be_timed_are_named_each_with_its_fix(
    built: Workspace, openblas: Variant
) -> None:
    with pytest.raises(UsageError) as caught:
        choose_candidates(built, ["mkl", "openblas"], "theano-1.0.5")
    assert caught.value.what.splitlines() == [
        "theano-1.0.5/mkl: not built, or not from its current lock",
        f"theano-1.0.5/openblas: {NOT_VERIFIED}",
    ]
    assert caught.value.fix == ("./invoke build --variant mkl; ./invoke verify --variant openblas")
    write_report(built, PASSED)
    # Another stack of the same name.
    other = openblas.model_copy(update={"file": built.root / "openblas/stack.yaml"})
    with pytest.raises(UsageError, match="not built"):
        require_candidates(built, [openblas, other])
