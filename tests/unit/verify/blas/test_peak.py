"""The measured peak of the processors."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from unit.helpers.suite import suite_module

peak = suite_module("blas.kernels")


class Kernels:
    """A processor without AVX-512, whose other rates double with each instruction set."""

    def best_rate(self, single: int, isa: int, *_: Any) -> float:
        return 0.0 if isa == 3 else 1e9 * 2**isa * (1 + single)


def test_the_best_instruction_set_counts_on_all_threads_together() -> None:
    assert peak.peak_rate(Kernels(), "float64", 1) == 4.0
    assert peak.peak_rate(Kernels(), "float32", 3) == 24.0


def test_the_kernels_compile_and_run(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    assert peak.peak_rate(peak.load_peak("g++", str(tmp_path)), "float64", 1, seconds=0.001) > 0.01
