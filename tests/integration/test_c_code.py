"""Operations that get C code, on real Theano: the results, layouts and errors of Python's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.programs import result

DRIVER = Path(__file__).with_name("c_code_driver.py")
Prefix = Callable[[str, str], Path]


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_c_code_gives_what_python_gives(prefix: Prefix, tmp_path: Path, framework: str) -> None:
    place, flags = prefix(framework, "openblas"), f"base_compiledir={tmp_path}"
    plain, ours = (
        result(place, DRIVER, THEANO_FLAGS=flags, THEANO_STACKS_QUICK=quick) for quick in ("0", "1")
    )
    for name, outcomes in ours["outcomes"].items():
        assert outcomes == plain["outcomes"][name], name
        kinds = {type(outcome[0]) for outcome in outcomes}
        assert kinds == {str, list}, f"{name}: results and errors"
    # Integers, and numbers of two precisions, stay with Python.
    in_python = [name.rpartition("} ")[2] for name, in_c in ours["in_c"].items() if not in_c]
    assert sorted(in_python) == ["float64 float32 i", "int32 int32 i"]
    assert not any(in_c for name, in_c in plain["in_c"].items() if name.startswith("read"))
