"""The summary's plots: the ratios to the baselines, all frameworks of a measure on one scale."""

from __future__ import annotations

from pathlib import Path

from stacks.bench import store
from stacks.timings import overview, summary
from unit.helpers.benching import BASE, FAST, OTHER, result, runs, subject
from unit.helpers.publishing import GEMM, at, read


def test_ratios_stand_beside_the_baseline(tmp_path: Path) -> None:
    second = [subject("base", "theano-0.8.2", baseline=True), subject("fast", "theano-0.8.2")]
    alone = subject("base", "aesara-2.8.7", baseline=True)
    rates = {BASE: 2.0, FAST: 5.0, OTHER: 2.0, second[0]: 1.0, second[1]: 10.0, alone: 1.0}
    found = [run for one, rate in rates.items() for run in runs(one, [rate] * 7, name=GEMM)]
    store.write(at(tmp_path), result(found, *rates))
    [one] = summary.summaries(read(tmp_path), {})
    [products] = overview.overviews(one)
    # A baseline without a variant to compare has no plot.
    assert [plot.title for plot in products.plots] == ["theano-0.8.2", "theano-1.0.5"]
    assert products.longest == 10
    base, fast, other = products.plots[1].bars
    assert (base.value, base.text, base.kind) == (1, "2 GFLOP/s", "peak")
    assert (fast.value, fast.clear, fast.text) == (2.5, "2.50 times", "5 GFLOP/s")
    # No clear difference is not in bold.
    assert (other.clear, other.text) == ("", "1.00 times, 2 GFLOP/s")
