from __future__ import annotations

import pytest

from stacks.bench import rows as bench_rows
from stacks.bench import table as bench_table
from unit.helpers.benching import BASE, FAST, missing, result, runs, subject


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
    output = capsys.readouterr().out.splitlines()
    assert output[2:] == [
        "        median      quartiles  ratio  interval",
        "Gemm, 2 threads, ms",
        "  base    40.0    40.0 - 40.0",
        "  fast    10.0    10.0 - 10.0   4.00  4.00 - 4.00",
        "",
        "Gemm, 2 threads: fast is the fastest",
        "note: it was noisy",
    ]


def test_a_missing_figure_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
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
