"""The program that times an image: its document is a result, as the bench stores it."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stacks.bench import store
from unit.helpers.suite import suite_module

bench = suite_module("workloads.bench")
DIGEST = "sha256:" + "d" * 64
EXPECTED = {
    "schema": 1, "variant": "mkl", "framework": "theano-1.0.5", "module": "theano",
    "version": "1.0.5", "python": "3.9.2", "baseline": False, "blas": None, "floatX": "float64",
    "flags": {"cxx": "g++"}, "lock": "a" * 64,
    "packages": [{"name": "numpy", "version": "1.22.4", "sha256": "b" * 64, "manager": "pip"}],
}  # fmt: skip
GEMM = json.dumps(
    {"series": [{"name": "Gemm float64 2000", "unit": "GFLOP/s", "samples": [1 / 3]}]}
)
CASE = {
    "name": "2000", "seconds": [0.25, 0.5], "graph": {"signature": "abc"},
    "compile": {"seconds": 1.5, "modules": 2},
}  # fmt: skip


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """Give the turns' command lines and variables; their processes answer as the real ones."""
    calls: list[tuple[list[str], dict[str, str]]] = []

    def call(command: list[str], limit: float, variables: dict[str, str]) -> SimpleNamespace:
        calls.append((command[2:], variables))
        if "--json" in command:
            Path(command[command.index("--json") + 1]).write_text(json.dumps({"cases": [CASE]}))
        return SimpleNamespace(status=0, output=f"{GEMM}\nsome warning\n", timed_out=False)

    monkeypatch.setattr(bench.process, "call", call)
    monkeypatch.setattr(bench, "_peaks", lambda expected, folder: {"float64": {1: 50.0}})
    return calls


def run(tmp_path: Path, *words: str, **expected: Any) -> int:
    file = tmp_path / "expect.json"
    file.write_text(json.dumps({**EXPECTED, **expected}))
    status = bench.main(["--expect", str(file), "--json", str(tmp_path / "r.json"), *words])
    return int(status)


def test_the_document_is_a_result(
    tmp_path: Path, calls: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "--rounds", "2", "--threads", "2", "--image-digest", DIGEST) == 0
    result = store.read(tmp_path / "r.json")
    (subject,) = result.subjects
    assert (subject.id, subject.image, subject.lock) == ("theano-1.0.5/mkl", DIGEST, "a" * 64)
    assert [(p.name, p.version, p.sha256) for p in subject.packages] == [
        ("numpy", "1.22.4", "b" * 64)
    ]
    assert result.settings.rounds == 2 and result.settings.threads == (2,) and result.settings.quick
    assert [(r.round, r.workload) for r in result.runs] == [
        (number, name) for number in (1, 2) for name in ("gemm", "elementwise", "check_blas")
    ]
    assert result.runs[0].series[0].samples == (0.333333,)
    check_blas = result.runs[2].series[0]
    assert (check_blas.name, check_blas.samples) == ("check_blas 2000", (0.25, 0.5))
    assert (check_blas.graph, check_blas.compile) == ("abc", 1.5)
    assert [(p.dtype, p.gflops) for p in result.machine.peak] == [("float64", 50.0)]
    # The turn before the first round is no sample.
    assert len(calls) == 3 * 3
    assert "Gemm float64 2000       0.33 GFLOP/s" in capsys.readouterr().out


def test_turns_are_started_as_the_bench_starts_them(
    tmp_path: Path, calls: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKL_DYNAMIC", "FALSE")
    monkeypatch.setenv("THEANO_FLAGS", "floatX=float32")
    run(tmp_path, "--rounds", "1", "--threads", "3", "--full")
    (own, variables), _, (program, _) = calls[:3]
    assert own == ["bench-probe", "theano", "gemm"]
    words = ["workload", "check_blas", "--profile-calls", "0", "--calls", "10"]
    assert program[: len(words)] == words
    assert set(bench.rounds.THREAD_VARIABLES) == {
        name for name, value in variables.items() if name.endswith("NUM_THREADS") and value == "3"
    }
    assert variables["THEANO_FLAGS"] == variables["THEANORC"] == ""
    assert "MKL_DYNAMIC" not in variables and variables["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    ("workload", "words", "version", "count"),
    [
        ("check_blas", ["--profile-calls", "0", "--calls", "1"], "1.0.5", 1),
        ("lstm", ["--case", "merged", "--profile-calls", "1", "--calls", "10"], "1.0.5", 1),
        ("mlp", ["--profile-calls", "1", "--calls", "300"], "2.38.3", 1),
        ("mlp", ["--profile-calls", "1", "--calls", "300"], "3.3.7", 2),
    ],
)
def test_a_round_is_that_of_the_bench(
    tmp_path: Path, calls: list[Any], workload: str, words: list[str], version: str, count: int
) -> None:
    """tests/unit/bench/test_rounds.py has the bench ask a program for the same."""
    module = "theano" if version == "1.0.5" else "pytensor"
    run(tmp_path, "--round", "2", "--workload", workload, module=module, version=version)
    assert len(calls) == count and calls[0][0][: 2 + len(words)] == ["workload", workload, *words]


def test_a_later_round_takes_its_turns_only(tmp_path: Path, calls: list[Any]) -> None:
    run(tmp_path, "--round", "4", "--workload", "gemm")
    result = store.read(tmp_path / "r.json")
    assert [run.round for run in result.runs] == [4] and len(calls) == 1
    assert result.machine.peak == () and result.subjects[0].image == "unknown"


def test_pytensor_is_timed_with_numba_too(
    tmp_path: Path, calls: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, "--workload", "mlp", "--rounds", "2", module="pytensor", version="3.3.7")
    names = [series.name for series in store.read(tmp_path / "r.json").runs[0].series]
    assert names == ["mlp 2000", "mlp 2000, numba"]
    progress = capsys.readouterr().err.splitlines()
    assert progress[0] == "round 1 of 2 ..."
    assert progress[1].startswith("round 2 of 2, about ")


@pytest.mark.parametrize(
    ("done", "message"),
    [
        ({"status": 1, "output": "no g++", "timed_out": False}, "exit status 1\nno g++"),
        ({"status": 0, "output": "killed", "timed_out": False}, "no measurement: killed"),
        ({"status": -9, "output": "", "timed_out": True}, "no answer within 3600 s"),
    ],
)
def test_a_turn_without_a_measurement_ends_it(
    tmp_path: Path,
    calls: list[Any],
    done: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bench.process, "call", lambda *_: SimpleNamespace(**done))
    assert run(tmp_path, "--round", "2") == 2
    assert message in capsys.readouterr().err and not (tmp_path / "r.json").exists()


def test_outside_of_an_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.json").write_text(json.dumps({k: v for k, v in EXPECTED.items() if k != "lock"}))
    assert bench.main(["--expect", str(tmp_path / "e.json")]) == 2
    assert "fix: use ./invoke bench outside an image" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--workload", "nope"], ["--image-digest", "latest"]])
def test_words_that_it_does_not_know(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(tmp_path, *words)
    assert words[1] in capsys.readouterr().err


def test_an_environment_of_a_device_is_not_timed_as_if_it_were_the_processors(
    tmp_path: Path, calls: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, flags={"device": "cuda", "cxx": "g++"}) == 2
    assert "computes on a device (cuda)" in capsys.readouterr().err
    assert not calls


probe = suite_module("workloads.rounds")


@pytest.mark.parametrize("argv", [["theano", "gemm"], ["theano", "gemm", "quick"]])
def test_the_series_of_a_workload_are_printed(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        probe.frameworks, "load", lambda name: SimpleNamespace(name=name, module=None)
    )
    monkeypatch.setitem(
        probe.KERNEL_WORKLOADS,
        "gemm",
        lambda framework, quick: [probe._kernel_series(framework.name, "s", [1.0 + quick])],
    )
    probe.main(argv)
    series = json.loads(capsys.readouterr().out)["series"]
    samples = [2.0 if "quick" in argv else 1.0]
    assert series == [{"name": "theano", "unit": "s", "samples": samples}]


@pytest.mark.parametrize(
    ("quick", "samples"), [(False, probe.KERNEL_SAMPLES), (True, probe.QUICK_KERNEL_SAMPLES)]
)
def test_samples_of_fast_calls_are_long_enough(
    quick: bool, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def call() -> None:
        now[0] += 0.001

    monkeypatch.setattr(probe, "monotonic", lambda: now[0])
    assert probe._seconds(call, quick) == pytest.approx([0.001] * samples)
    assert now[0] == pytest.approx(0.002 + samples * 0.02, rel=0.1)


def test_the_second_slow_call_is_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []

    def call() -> None:
        calls.append(0.5)

    monkeypatch.setattr(probe, "monotonic", lambda: sum(calls))
    assert probe._seconds(call, True) == [0.5] * probe.QUICK_KERNEL_SAMPLES
    assert len(calls) == 1 + probe.QUICK_KERNEL_SAMPLES
