"""The product that check_blas.py times, with numbers in place of matrices."""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

check_blas = suite_module("workloads.networks")


@pytest.mark.parametrize(
    ("small", "dtype", "names"),
    [
        (True, "float64", ["20", "20 float32"]),
        (False, "float64", ["2000", "5000", "2000 float32", "5000 float32"]),
        (False, "float32", ["2000", "5000", "2000 float64", "5000 float64"]),
    ],
)
def test_the_update_and_its_operations(
    small: bool, dtype: str, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def ones(shape: tuple[int, int], dtype: str) -> float:
        made.append((shape[0], dtype))
        return 3.0

    monkeypatch.setattr(
        check_blas, "numpy", SimpleNamespace(ones=ones, asarray=lambda number, _: number)
    )
    tensor = SimpleNamespace(dot=lambda a, b: a * b)
    ops = SimpleNamespace(module=SimpleNamespace(shared=float), tensor=tensor, dtype=dtype)
    models = check_blas.check_blas(ops, small)
    assert [model.name for model in models] == names
    assert made[0] == made[2] == (int(names[0]), dtype)
    assert made[-1] == (int(names[-1].split()[0]), names[-1].split()[1])
    assert models[0].updates == [(3.0, pytest.approx(0.4 * 3 + 0.8 * 9))]
    assert models[0].flops == 2.0 * models[0].shape["size"] ** 3
