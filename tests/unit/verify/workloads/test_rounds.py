"""The program that times a kernel: it answers each line with the series, of long enough samples."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from unit.helpers.suite import suite_module

rounds = suite_module("workloads.rounds")
portable = suite_module("core.portable")


@pytest.mark.parametrize("argv", [["theano", "gemm"], ["theano", "gemm", "quick"]])
def test_the_series_of_a_kernel_answer_each_line(
    argv: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = io.BytesIO()
    monkeypatch.setattr(rounds.process, "end_with_parent", lambda: None)
    monkeypatch.setattr(rounds, "take_stdout", lambda: output)
    monkeypatch.setattr(sys, "stdin", io.StringIO("{}\n{}\n"))
    monkeypatch.setattr(rounds.frameworks, "load", lambda name: SimpleNamespace(name=name))
    monkeypatch.setitem(
        rounds.KERNEL_WORKLOADS,
        "gemm",
        lambda framework, quick: [rounds._series(framework.name, "s", [1.0 + quick])],
    )
    rounds.main(argv)
    ready, *answers = map(json.loads, output.getvalue().splitlines())
    samples = [2.0 if "quick" in argv else 1.0]
    assert ready == {"ready": []}
    assert answers == [{"series": [{"name": "theano", "unit": "s", "samples": samples}]}] * 2


@pytest.mark.parametrize(
    ("quick", "samples"), [(False, rounds.KERNEL_SAMPLES), (True, rounds.QUICK_KERNEL_SAMPLES)]
)
def test_samples_of_fast_calls_are_long_enough(
    quick: bool, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def call() -> None:
        now[0] += 0.001

    monkeypatch.setattr(portable, "monotonic", lambda: now[0])
    assert rounds._seconds(call, quick) == pytest.approx([0.001] * samples)
    assert now[0] == pytest.approx(0.002 + samples * 0.02, rel=0.1)
