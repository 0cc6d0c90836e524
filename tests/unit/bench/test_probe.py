from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from stacks.bench import probe, program
from stacks.core.errors import StacksError, UsageError
from unit.helpers.benching import PASSED, answer, candidate
from unit.helpers.killed import kill_during_import, slow_environment


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(UsageError, match="gem"):
        probe.check_names(["gem"])


def test_the_variables_and_the_output_of_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"series": [{"name": "Gemm", "unit": "GFLOP/s", "samples": [100.123456789, 99]}]}
    monkeypatch.setenv("THEANO_FLAGS", "blas.ldflags=-lmine")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("THEANO_STACKS_BLIS_ZEN5", "0")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    message = answer(monkeypatch, "a warning\n" + json.dumps(found) + "\n")
    (series,) = probe.measure(candidate("mkl"), "gemm", 3, quick=True)
    assert series.samples == (100.123, 99.0)
    assert {message[0][name] for name in probe.THREAD_VARIABLES} == {"3"}
    assert message[0]["THEANO_FLAGS"] == message[0]["THEANORC"] == ""
    assert message[0]["PYTHONDONTWRITEBYTECODE"] == ""
    assert not {"OPENBLAS_CORETYPE", "THEANO_STACKS_BLIS_ZEN5"} & set(message[0])


def test_the_device_is_the_one_that_was_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANO_FLAGS", "device=opencl0:0")
    report = {**PASSED, "device": {"where": "opencl0:1", "name": "a GPU", "driver": "1"}}
    env = probe.environment_of(candidate("gpuarray", report=report), 2)
    assert env["THEANO_FLAGS"] == "device=opencl0:1"


@pytest.mark.parametrize(
    "text", ["", "no JSON", '{"series": [{"name": "x", "unit": "mile", "samples": [1]}]}']
)
def test_output_that_is_not_a_measurement_is_an_error(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    answer(monkeypatch, text)
    with pytest.raises(StacksError, match=r"theano-1\.0\.5/mkl"):
        probe.measure(candidate("mkl"), "gemm", 1, quick=True)


def test_how_often_a_program_is_called() -> None:
    assert [probe.calls_of("ntm", quick) for quick in (True, False)] == [20, 100]
    assert [probe.calls_of("check_blas", quick) for quick in (True, False)] == [1, 10]
    assert [probe.calls_of("mlp", quick) for quick in (True, False)] == [300, 300]
    assert program.profile_calls("check_blas") == 0


def test_a_program_takes_the_modules_that_environments_share(tmp_path: Path) -> None:
    built = dataclasses.replace(candidate("mkl"), place=tmp_path)
    assert probe.options_of(built, "lstm", False) == []
    assert probe.options_of(built, "lstm", True) == ["--case", "merged"]
    (tmp_path / "etc/theano-stacks").mkdir(parents=True)
    (tmp_path / "etc/theano-stacks/modules").write_text("/cache/modules")
    assert probe.options_of(built, "ntm", True) == ["--share-modules", "/cache/modules"]


def test_numba_is_timed_where_it_is_the_default() -> None:
    new, old, theano = (
        candidate("mkl", name).variant.framework
        for name in ("pytensor-3.3.7", "pytensor-2.38.3", "theano-1.0.5")
    )
    assert probe.runs_numba(new, "lstm") and not probe.runs_numba(new, "check_blas")
    assert not probe.runs_numba(old, "lstm") and not probe.runs_numba(theano, "lstm")


def test_a_probe_ends_with_a_killed_bench(tmp_path: Path) -> None:
    code = (
        "import sys, dataclasses, pathlib; from stacks.bench import probe\n"
        "from unit.helpers.benching import candidate\n"
        "built = dataclasses.replace(candidate('mkl'), place=pathlib.Path(sys.argv[1]))\n"
        "probe.measure(built, 'gemm', 1, quick=True)"
    )
    kill_during_import(tmp_path, code, slow_environment(tmp_path))
