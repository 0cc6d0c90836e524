"""The program that times the bench's own workloads."""

import json
from types import SimpleNamespace

import pytest

from unit.helpers.suite import suite_module

probe = suite_module("workloads.bench_probe")


@pytest.mark.parametrize("argv", [["theano", "gemm"], ["theano", "gemm", "quick"]])
def test_the_series_of_a_workload_are_printed(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        probe.frameworks, "load", lambda name: SimpleNamespace(name=name, module=None)
    )
    monkeypatch.setitem(
        probe.WORKLOADS,
        "gemm",
        lambda framework, quick: [probe._series(framework.name, "s", [1.0 + quick])],
    )
    probe.main(argv)
    series = json.loads(capsys.readouterr().out)["series"]
    samples = [2.0 if "quick" in argv else 1.0]
    assert series == [{"name": "theano", "unit": "s", "samples": samples}]


def test_workloads_of_one_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probe.frameworks, "load", lambda name: SimpleNamespace(name=name))
    for name in ("gemm", "elementwise"):
        monkeypatch.setitem(
            probe.WORKLOADS, name, lambda *_, name=name: [probe._series(name, "s", [1.0])]
        )
    probe.main(["theano", "gemm,elementwise"])
    series = json.loads(capsys.readouterr().out)["series"]
    assert [one["name"] for one in series] == ["gemm", "elementwise"]


@pytest.mark.parametrize(
    ("quick", "samples"), [(False, probe.SAMPLES), (True, probe.QUICK_SAMPLES)]
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
    assert probe._seconds(call, True) == [0.5] * probe.QUICK_SAMPLES
    assert len(calls) == 1 + probe.QUICK_SAMPLES
