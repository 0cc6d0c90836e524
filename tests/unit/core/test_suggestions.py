from __future__ import annotations

from stacks.core.suggestions import nearest, unknown


def test_the_nearest_name_in_any_case() -> None:
    assert nearest("OpenBLAS", ["mkl", "openblas"]) == "openblas"
    assert nearest("floatx", ["floatX", "device"]) == "floatX"
    assert nearest("blis", ["mkl", "openblas-amdlibm"]) is None


def test_an_unknown_name() -> None:
    assert str(unknown("variant", "mlk", ["openblas", "mkl"], where="a.yaml:3")) == (
        "a.yaml:3: unknown variant\n"
        "  expected: one of mkl, openblas\n"
        "  found:    'mlk'\n"
        "  fix:      did you mean 'mkl'?"
    )
    assert unknown("variant", "x", []).expected == "a variant; none exists yet"
