"""The order of the rounds, what may be timed, and how a process's words become figures."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import candidates, command, noise, probe, rounds, schedule, store
from stacks.bench import rows as bench_rows
from stacks.bench import table as bench_table
from stacks.bench.candidates import Candidate
from stacks.bench.options import BenchOptions
from stacks.bench.progress import duration
from stacks.bench.result import Series
from stacks.channel import offers as offers_module
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import prefix, reports, settings
from stacks.locks import lock
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.lock import Lock
from stacks.variants.variant import load_variant
from unit.helpers.benching import BASE, FAST, missing, result, runs, subject

LOCK = Lock(
    (LockedPackage("numpy", "1.22.4", "0", "u/n.conda", "b" * 64, "c" * 32),), (), "a" * 64, "", ""
)
PASSED = {
    "ok": True,

    "packages": [{"name": "numpy", "version": "1.22.4", "sha256": "b" * 64}],
    "machine": {
        "cpu": "Here", "vendor": "Me", "cores": 2, "memory": 1, "kernel": "6", "glibc": "2.36",
        "peak": [],
    },
}  # fmt: skip


def candidate(workspace: Workspace, name: str, report: dict[str, Any] | None = PASSED) -> Candidate:
    return Candidate(load_variant(workspace, name, "theano-1.0.5"), Path("/p") / name, LOCK, report)


def plan(workspace: Workspace, *names: str, **more: Any) -> schedule.Plan:
    chosen = tuple(candidate(workspace, name) for name in names)
    given: dict[str, Any] = {"workloads": ("gemm",), "threads": (1, 2), "rounds": 3, "quick": True}
    return schedule.Plan(candidates=chosen, **(given | more))


def test_every_round_times_each_once_and_the_order_turns(workspace: Workspace) -> None:
    found = [
        (turn.round, turn.threads, turn.candidate.variant.name)
        for turn in schedule.turns(plan(workspace, "blis", "mkl", "openblas", threads=(2,)))
    ]
    names = [name for _, _, name in found]
    assert [number for number, _, _ in found] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert names[3:6] == ["blis", "mkl", "openblas"]
    assert names[6:9] == ["mkl", "openblas", "blis"]
    assert names[9:] == ["openblas", "blis", "mkl"]


def test_what_is_compared_is_timed_together(workspace: Workspace) -> None:
    found = [
        (t.workload, t.threads)
        for t in schedule.turns(
            plan(workspace, "blis", "mkl", workloads=("gemm", "elementwise"), rounds=1)
        )
        if t.round
    ]
    assert found == [
        ("gemm", 1), ("gemm", 1), ("gemm", 2), ("gemm", 2),
        ("elementwise", 1), ("elementwise", 1),
    ]  # fmt: skip


def test_what_is_left_is_judged_by_its_like(workspace: Workspace) -> None:
    every = list(schedule.turns(plan(workspace, "blis", "mkl", threads=(1,), rounds=2)))
    assert schedule.remaining([], every) is None
    assert schedule.remaining([(every[0], 10.0)], every[1:]) == 50
    done = list(zip(every[:4], [10.0, 2.0, 10.0, 2.0], strict=True))
    assert schedule.remaining(done, every[4:]) == 12
    assert (duration(12.3), duration(600)) == ("12 s", "10 min")


def test_the_first_run_of_each_warms_up_and_is_not_kept(
    workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = []

    def measure(one: Candidate, workload: str, threads: int) -> list[Series]:
        asked.append((one.variant.name, threads, len(os.sched_getaffinity(0))))
        return [Series(name="Gemm", unit="s", samples=(float(len(asked)),), graph=None)]

    threads = min(2, len(os.sched_getaffinity(0)))
    found = rounds.run(plan(workspace, "blis", "mkl", threads=(threads,), rounds=2), measure).runs
    assert [(name, kept) for name, _, kept in asked[:2]] == [("blis", threads), ("mkl", threads)]
    assert [run.round for run in found] == [1, 1, 2, 2]
    assert [run.series[0].samples for run in found] == [(3.0,), (4.0,), (5.0,), (6.0,)]
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "warming up ..." and said[1].startswith("round 1 of 2 ... about")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the environments' folder; openblas is built there, from the lock above."""
    place = tmp_path / "prefixes/theano-1.0.5/openblas"
    (place / settings.EXPECTATION).parent.mkdir(parents=True)
    (place / settings.EXPECTATION).write_text("{}")
    monkeypatch.setattr(prefix, "PREFIXES", tmp_path / "prefixes")
    monkeypatch.setattr(prefix, "is_ready", lambda variant, locked, target: target.is_dir())
    monkeypatch.setattr(lock, "check", lambda variant, channel: LOCK)
    monkeypatch.setattr(offers_module, "read_channel", lambda: None)
    monkeypatch.setattr(reports, "REPORTS", tmp_path / "reports")
    return tmp_path


def report(workspace: Workspace, content: dict[str, Any]) -> Path:
    path = reports.report_path(workspace, load_variant(workspace, "openblas", "theano-1.0.5"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def refusal(workspace: Workspace) -> str:
    with pytest.raises(UsageError) as caught:
        candidates.to_time(workspace, [load_variant(workspace, "openblas", "theano-1.0.5")])
    return str(caught.value)


def test_only_what_passed_its_verification_is_timed(workspace: Workspace, built: Path) -> None:
    variant = load_variant(workspace, "openblas", "theano-1.0.5")
    fix = "./invoke verify --variant openblas --framework theano-1.0.5"
    assert "not verified since it was built" in refusal(workspace) and fix in refusal(workspace)
    report(workspace, {**PASSED, "ok": False})
    assert "its verification failed" in refusal(workspace)
    report(workspace, {**PASSED, "packages": []})
    assert "not verified since it was built" in refusal(workspace), "it was of another lock"
    path = report(workspace, PASSED)
    assert [c.variant.id for c in candidates.to_time(workspace, [variant])] == [
        "theano-1.0.5/openblas"
    ]
    os.utime(path, (1, 1))
    assert "not verified since it was built" in refusal(workspace), "it was of an older environment"


def test_a_device_is_not_timed(workspace: Workspace) -> None:
    variant = load_variant(workspace, "openblas", "theano-1.0.5").model_copy(
        update={"device": "opencl"}
    )
    with pytest.raises(UsageError, match="its device computes while the program goes on"):
        candidates.to_time(workspace, [variant])


def test_what_is_not_built_is_not_timed(workspace: Workspace, built: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)theano-1.0.5/mkl: not built.*invoke build"):
        candidates.to_time(workspace, [load_variant(workspace, "mkl", "theano-1.0.5")])
    with pytest.raises(UsageError, match="nothing to time"):
        command.choose(workspace, (), "theano-1.0.5")


def test_counts_of_threads() -> None:
    assert command.counts("", 1) == (1,)
    assert command.counts("", 6) == (1, 2, 4, 6)
    assert command.counts("1-3,2", 4) == (1, 2, 3)
    for text, said in (("x", "not a list"), ("0", "1 to 4"), ("8", "1 to 4"), ("3-", "not a list")):
        with pytest.raises(UsageError, match=said):
            command.counts(text, 4)


def test_a_name_may_carry_its_framework(workspace: Workspace) -> None:
    assert command.named(workspace, "theano-0.8.2/mkl", "theano-1.0.5").id == "theano-0.8.2/mkl"
    assert command.named(workspace, "mkl", "theano-0.8.2").id == "theano-0.8.2/mkl"
    assert command.named(workspace, "mkl", "").id == "theano-1.0.5/mkl"


def test_a_workload_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="gem"):
        probe.check_names(["gem"])


def say(monkeypatch: pytest.MonkeyPatch, text: str) -> list[dict[str, str]]:
    told: list[dict[str, str]] = []

    def answer(words: Sequence[object], env: dict[str, str], limit: float) -> str:
        told.append(env)
        return text

    monkeypatch.setattr(probe, "call", answer)
    return told


def test_a_process_is_told_its_threads_and_its_words_are_read(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {"series": [{"name": "Gemm", "unit": "GFLOP/s", "samples": [100.123456789, 99]}]}
    monkeypatch.setenv("THEANO_FLAGS", "blas.ldflags=-lmine")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("THEANO_STACKS_BLIS_ZEN5", "0")
    told = say(monkeypatch, "a warning\n" + json.dumps(found) + "\n")
    (series,) = probe.measure(candidate(workspace, "mkl"), "gemm", 3, quick=True)
    assert series.samples == (100.123, 99.0)
    assert {told[0][name] for name in probe.THREAD_VARIABLES} == {"3"}
    assert told[0]["THEANO_FLAGS"] == told[0]["THEANORC"] == ""
    assert not {"OPENBLAS_CORETYPE", "THEANO_STACKS_BLIS_ZEN5"} & set(told[0])


@pytest.mark.parametrize(
    "text", ["", "no JSON", '{"series": [{"name": "x", "unit": "mile", "samples": [1]}]}']
)
def test_words_that_are_no_measurement(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    say(monkeypatch, text)
    with pytest.raises(StacksError, match=r"theano-1\.0\.5/mkl"):
        probe.measure(candidate(workspace, "mkl"), "gemm", 1, quick=True)


def test_a_clock_that_jumped_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "quota", lambda: None)
    found = runs(BASE, [1.0])
    assert command.remarks(found, True, 0.5) == []
    (said,) = command.remarks(found, True, -3600.0)
    assert said.startswith("the system's date was changed by -3600 s")
    assert command.remarks(found, False, 0.0) == [
        "the system did not allow to keep runs to processors of their own"
    ]


def test_the_bench_from_its_options_to_its_file(
    workspace: Workspace,
    built: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report(workspace, PASSED)
    say(monkeypatch, '{"series": [{"name": "Gemm", "unit": "s", "samples": [1.0, 2.0, 3.0]}]}')
    write = store.write
    monkeypatch.setattr(store, "write", lambda one: write(one, built / "results"))
    monkeypatch.setattr(command, "REPOSITORY", built)
    asked = BenchOptions(workload="gemm", rounds=5, threads="1")
    command.bench(workspace, "openblas", "theano-1.0.5", asked=asked)
    ((path, one),) = [
        (one.path, one.result) for one in store.read_all(replace(workspace, root=built))[0]
    ]
    assert one.machine.name == "here-2-cores" and one.settings.rounds == 5
    assert len(one.runs) == 5 and one.subjects[0].lock == "a" * 64
    said = capsys.readouterr()
    assert "Gemm" in said.out and f"kept in {path.relative_to(built)}" in said.err
    with pytest.raises(UsageError, match="too few rounds"):
        command.bench(workspace, "openblas", asked=BenchOptions(rounds=2))


def test_figures_have_three_digits() -> None:
    assert [bench_table.number(x) for x in (1234.5, 117.8, 44.12, 2.345, 0.01234)] == [
        "1234", "118", "44.1", "2.35", "0.0123",
    ]  # fmt: skip


def test_short_times_get_a_smaller_unit() -> None:
    units = [bench_table.scale(value, "s")[1] for value in (2.0, 0.02, 0.0002)]
    assert units == ["s", "ms", "us"]
    assert bench_table.scale(0.5, "ns") == (1.0, "ns")


def test_a_result_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    found = [*runs(BASE, [0.04] * 7, unit="s"), *runs(FAST, [0.01] * 7, unit="s")]
    bench_table.show(result(found, BASE, FAST, remarks=("it was noisy",)))
    said = capsys.readouterr().out.splitlines()
    assert said[2:] == [
        "        median      quartiles  ratio  interval",
        "Gemm, 2 threads, ms",
        "  base    40.0    40.0 - 40.0",
        "  fast    10.0    10.0 - 10.0   4.00  4.00 - 4.00",
        "",
        "Gemm, 2 threads: fast is the fastest",
        "note: it was noisy",
    ]


def test_what_did_not_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    bench_table.show(
        result(runs(BASE, [1.0]), BASE, FAST, missing=(missing(FAST), missing(FAST, 3)))
    )
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "note: ntm, numba, 2 threads: theano-1.0.5/fast had not compiled within 300 s, 287 s of "
        "them on a processor: it has no figure; --limit gives it more time",
        "note: ntm, numba, 2 threads: theano-1.0.5/fast did not answer in round 3 within 300 s, "
        "287 s of them on a processor: it has no figure; --limit gives it more time",
    ]


def test_a_table_fits_a_narrow_terminal() -> None:
    slow, fast = subject("pip-default", baseline=True), subject("openblas-amdlibm")
    long = {"name": "sigmoid float32 400x512, numba", "unit": "ns"}
    found = [*runs(slow, [1234.5] * 7, **long), *runs(fast, [12.345] * 7, **long)]
    rows = bench_rows.rows(found, [slow, fast])
    assert max(map(len, bench_table.lines(rows))) <= 80
