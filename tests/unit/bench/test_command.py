from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from stacks.bench import command, machine, store
from stacks.bench.options import BenchOptions
from stacks.bench.result import Device
from stacks.core import cores
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from unit.helpers.benching import (
    BASE,
    LOCK,
    PASSED,
    SLOW,
    answer,
    beside_loops,
    candidate,
    result,
    runs,
    write_report,
    written,
)


def test_counts_of_threads() -> None:
    assert command.thread_counts("", 1) == (1,)
    assert command.thread_counts("", 6) == (1, 2, 4, 6)
    assert command.thread_counts("1-3,2", 4) == (1, 2, 3)
    for text, output in (
        ("x", "not a list"),
        ("0", "1 to 4"),
        ("8", "1 to 4"),
        ("3-", "not a list"),
    ):
        with pytest.raises(UsageError, match=output):
            command.thread_counts(text, 4)


def test_two_stacks_of_one_name_are_refused(
    monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    same = [candidate("mkl"), candidate("mkl")]
    monkeypatch.setattr(command, "choose_candidates", lambda *_: same)
    with pytest.raises(UsageError, match=r"two variants are named theano-1\.0\.5/mkl\n  fix: "):
        command.timed(workspace, "old/mkl,new/mkl", options=BenchOptions())


GPU = {"name": "NVIDIA H100, compute capability 9.0", "driver": "CUDA 13.0", "where": "cuda0"}


def test_elementwise_functions_are_not_timed_on_a_device(
    monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    report = {**PASSED, "device": GPU}
    some = [dataclasses.replace(candidate("gpuarray"), report=report)]
    monkeypatch.setattr(command, "choose_candidates", lambda *_: some)
    with pytest.raises(UsageError, match=r"elementwise: theano-1.0.5/gpuarray computes on a dev"):
        command.timed(workspace, "gpuarray", options=BenchOptions())


def test_the_folder_of_a_devices_results_has_its_name(
    built: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report(built, {**PASSED, "device": GPU})
    answer(monkeypatch, '{"series": [{"name": "Gemm", "unit": "s", "samples": [1.0, 2.0, 3.0]}]}')
    requested = BenchOptions(workload="gemm", rounds=5, threads="1")
    found = command.timed(built, "openblas", "theano-1.0.5", options=requested)
    assert found.machine.name == machine.describe([PASSED]).name + "-nvidia-h100"
    assert found.subjects[0].device == Device(name=GPU["name"], driver="CUDA 13.0")


def test_a_changed_system_clock_is_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "quota", lambda: None)
    found = runs(BASE, [1.0])
    assert command.remarks(found, True, 0.5) == []
    (output,) = command.remarks(found, True, -3600.0)
    assert output.startswith("the system's clock was changed by -3600 s")
    assert command.remarks(found, False, 0.0) == [
        "the system did not allow pinning runs to processors"
    ]


def test_the_bench_from_its_options_to_its_file(
    built: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(built, PASSED)
    answer(monkeypatch, '{"series": [{"name": "Gemm", "unit": "s", "samples": [1.0, 2.0, 3.0]}]}')
    requested = BenchOptions(workload="gemm", rounds=5, threads="1")
    command.bench(built, "openblas", "theano-1.0.5", options=requested)
    ((path, one),) = [(one.path, one.result) for one in store.read_all(built)[0]]
    assert one.machine == machine.describe([PASSED]) and one.settings.rounds == 5
    assert len(one.runs) == 5 and one.subjects[0].lock == LOCK.sha256
    output = capsys.readouterr()
    assert "Gemm" in output.out and f"stored in {path.relative_to(built.root)}" in output.err
    with pytest.raises(UsageError, match="too few rounds"):
        command.bench(built, "openblas", options=BenchOptions(rounds=2))


def test_a_fix_that_was_not_made_for_a_framework_is_refused(workspace: Workspace) -> None:
    command._check_fixes(
        workspace, [candidate("mkl", "pytensor-3.3.7"), candidate("mkl", "theano-0.8.2")]
    )
    with pytest.raises(StacksError, match=r"theano_stacks_scan does not support aesara-2\.8\.7"):
        command._check_fixes(workspace, [candidate("mkl"), candidate("mkl", "aesara-2.8.7")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": 2}, "too few rounds"),
        ({"calls": -1}, "positive numbers"),
        ({"busy": -1}, "positive numbers"),
        ({"workload": "gem"}, "gem"),
    ],
)
def test_impossible_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        BenchOptions(**arguments).check()


def test_the_defaults_of_the_options() -> None:
    assert BenchOptions().workloads == ("gemm", "elementwise")
    assert BenchOptions(workload=" gemm, mlp,gemm,,").workloads == ("gemm", "mlp")
    assert (BenchOptions().round_count, BenchOptions(quick=True).round_count) == (11, 9)
    assert BenchOptions(rounds=5, quick=True).round_count == 5
    BenchOptions().check()


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    return own_workspace


def test_results_are_shown_with_warnings(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(workspace, remarks=("other programs were busy",))
    (path.parent / "cut.json").write_text("{")
    command.show_results(workspace)
    output = capsys.readouterr()
    assert "Here, 2 cores; 7 rounds, begun 2026-11-21T05:30:00Z" in output.out
    assert "note: other programs were busy" in output.out
    assert "warning: " in output.err and "cut off or broken" in output.err
    with pytest.raises(UsageError, match="no results"):
        command.show_results(workspace, "other")


def test_the_last_results_idle_and_busy_are_both_shown(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    idle = result(runs(BASE, SLOW), BASE)
    settings = idle.settings.model_copy(update={"busy": 2})
    later = "2026-11-22T05:30:00Z"
    store.write(workspace, idle)
    found = beside_loops(runs(BASE, SLOW))
    store.write(workspace, result(found, BASE, settings=settings, began=later))
    command.show_results(workspace)
    output = capsys.readouterr().out
    assert "\nGemm, 2 threads, GFLOP/s\n" in output
    assert "\nGemm beside 2 busy loops, 2 threads, GFLOP/s\n" in output
