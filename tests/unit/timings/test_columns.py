"""The columns of the summary: one for each question in the short table."""

from __future__ import annotations

from stacks.timings import columns


def test_the_first_measured_column_of_a_question_is_short() -> None:
    found = columns.measured(
        {
            ("mlp step", 2): "mlp",
            ("Gemm float64 2000", 2): "gemm",
            ("Gemm float64 2000", 0): "gemm",
            ("check_blas 2000", 0): "check_blas",
            ("Gemm float64 4000", 0): "gemm",
            ("no column", 0): "own",
        }
    )
    assert [column.title for column in found] == [
        "check_blas 2000, float64",
        "Gemm 2000, float64",
        "Gemm 4000, float64",
        "Gemm 2000, float64 beside 2 busy loops",
        "MLP beside 2 busy loops",
    ]
    assert [column.workload for column in found] == ["check_blas", "gemm", "gemm", "gemm", "mlp"]
    # Beside busy loops only a step is an answer.
    assert [column.title for column in columns.short(found)] == [
        "check_blas 2000, float64",
        "MLP beside 2 busy loops",
    ]
    assert [column.load for column in columns.short(found)] == ["idle", "2 busy loops"]
