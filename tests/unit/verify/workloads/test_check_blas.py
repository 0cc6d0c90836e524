"""The product that check_blas.py times, with numbers in place of matrices."""

from types import SimpleNamespace

import pytest

from unit.helpers.suite import suite_module

check_blas = suite_module("workloads.check_blas")


@pytest.mark.parametrize(("small", "sizes"), [(True, [20]), (False, [2000, 5000])])
def test_the_update_and_its_operations(
    small: bool, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_blas.numpy, "ones", lambda shape: 3.0, raising=False)
    tensor = SimpleNamespace(dot=lambda a, b: a * b)
    ops = SimpleNamespace(shared=float, constant=float, tensor=tensor)
    models = check_blas.models(ops, small)
    assert [model.shape for model in models] == [{"size": size} for size in sizes]
    assert models[0].updates == [(3.0, pytest.approx(0.4 * 3 + 0.8 * 9))]
    assert models[0].flops == 2.0 * sizes[0] ** 3
