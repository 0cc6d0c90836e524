from __future__ import annotations

import pytest

from stacks.bench.own_program_table import show, verdict
from stacks.bench.program_run import ProgramRun


def a_run(wall: float, step: float = 0.0) -> ProgramRun:
    return ProgramRun(wall, wall, 0.1, 100.0, None, (step,) if step else ())


def test_the_fastest_is_named_where_the_rounds_show_it() -> None:
    slow = [a_run(2.0 + noise / 10) for noise in range(7)]
    fast = [a_run(1.0 + noise / 10) for noise in range(7)]
    assert verdict({"a": slow, "b": fast}, has_steps=False) == ("whole program: b is the fastest")
    mixed = [a_run(2.0 + (-1) ** n / 10) for n in range(7)]
    even = [a_run(2.0) for n in range(7)]
    assert "show no fastest variant" in verdict({"a": mixed, "b": even}, has_steps=False)
    assert "show no fastest" in verdict({"a": slow[:3], "b": fast[:3]}, has_steps=False)


def test_steps_decide_where_all_have_them() -> None:
    a = [a_run(1.0, step=0.2 + n / 100) for n in range(7)]
    b = [a_run(9.0, step=0.1 + n / 100) for n in range(7)]
    assert verdict({"a": a, "b": b}, has_steps=True) == "step: b is the fastest"


def test_the_tables_fit_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("theano-1.0.5/pip-default", "theano-1.0.5/openblas-amdlibm")
    timed = {name: [a_run(100.0 + n, step=0.2) for n in range(7)] for name in names}
    show({name: found[0] for name, found in timed.items()}, timed)
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[0].split()) == "variant first, s run, s step, ms times as fast"
    openblas = "openblas-amdlibm 100.00 103.00 (101.50-104.50) 200.000 1.00 (1.00-1.00)"
    assert " ".join(lines[2].split()) == openblas
    assert lines[3] == "times as fast: as pip-default in the same round, the median"
    assert " ".join(lines[5].split()) == "variant CPU, s compile, s peak, MB"
    assert " ".join(lines[7].split()) == "openblas-amdlibm 103.00 0.10 100"
    assert max(map(len, lines[:8])) <= 80, lines
