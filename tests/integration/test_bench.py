"""The bench's own workloads in real environments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.conftest import Prefix
from stacks.bench.candidates import Candidate
from stacks.bench.processes import start_program
from stacks.bench.result import Series
from stacks.bench.schedule import BenchOptions, Plan
from stacks.bench.user_program import run_once
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.profiles import run as profiles
from stacks.variants.load import load_variant

ELEMENTWISE = ["exp float32 400x512", "tanh float32 400x512"]
PRODUCTS = ["Gemm float64 2000", "Gemm float32 2000"]


def candidate(workspace: Workspace, prefix: Prefix, framework: str, flavour: str) -> Candidate:
    variant = load_variant(workspace, flavour, framework)
    locked = lock.read(workspace, variant)
    return Candidate(variant, prefix(framework, flavour), locked, None)


def plan(of: Candidate, workload: str) -> Plan:
    return Plan((of,), BenchOptions(workload=workload, quick=True), (1,))


def timed(of: Candidate, workload: str, *calls: int) -> list[list[Series]]:
    """Return the series of a workload's process, asked several times."""
    chosen = plan(of, workload)
    started = start_program(chosen, next(chosen.turns()), "")
    try:
        started.wait()
        found = [started.time(count) for count in calls]
        assert started.process.processor_seconds() > 0
    finally:
        started.process.kill()
    return found


@pytest.mark.parametrize(
    ("framework", "flavour", "workload", "names", "unit", "least", "most"),
    [
        # From a tenth of a nanosecond to a microsecond an element: the unit is not mistaken.
        ("theano-0.8.2", "pip-default", "elementwise", ELEMENTWISE, "ns", 0.1, 1000),
        ("pytensor-3.3.7", "pip-openblas", "elementwise", ELEMENTWISE, "ns", 0.1, 1000),
        ("theano-1.0.5", "pip-openblas", "gemm", PRODUCTS, "GFLOP/s", 1, 10000),
    ],
)
def test_kernels_are_timed(
    workspace: Workspace,
    prefix: Prefix,
    framework: str,
    flavour: str,
    workload: str,
    names: list[str],
    unit: str,
    least: float,
    most: float,
) -> None:
    for measured in timed(candidate(workspace, prefix, framework, flavour), workload, 1, 1):
        assert [series.name for series in measured] == names
        assert {series.unit for series in measured} == {unit}
        assert all(least < sample < most for series in measured for sample in series.samples)


def test_a_program_is_suspended_and_resumed_on_python_2(
    workspace: Workspace, prefix: Prefix
) -> None:
    of = candidate(workspace, prefix, "theano-0.8.2", "pip-default")
    (first,), (second,) = timed(of, "logreg", 3, 2)
    assert (first.name, len(first.samples), len(second.samples)) == ("logreg step", 3, 2)
    assert first.graph == second.graph and min(first.samples) > 0


FRAMEWORKS = [
    ("theano-0.8.2", "theano"),
    ("theano-1.0.5", "theano"),
    ("theano-pymc-1.1.2", "theano"),
    ("aesara-2.8.7", "aesara"),
    ("pytensor-2.38.3", "pytensor"),
    ("pytensor-3.3.7", "pytensor"),
]
PROGRAM = """\
import sys, {module} as framework, {module}.tensor as tt
x = tt.matrix("x")
f = framework.function([x], tt.dot(tt.tanh(x), x).sum())
for _ in range(4):
    print("%.1f" % f([[1, 2], [3, 4]]))
    print("THEANO_STACKS_STEP")
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def file(module: str, tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(module=module))
    return path


@pytest.mark.parametrize(("framework", "module"), FRAMEWORKS)
def test_a_profile_and_a_timed_run(
    framework: str, file: Path, workspace: Workspace, prefix: Prefix, tmp_path: Path
) -> None:
    place, variant = prefix(framework, "openblas"), load_variant(workspace, "openblas", framework)
    report = tmp_path / "report.json"
    own = Workspace(tmp_path, workspace.cache)
    profiles.profile_program(own, variant, place, ["python", str(file), "0"], json_file=report)
    [process] = json.loads(report.read_text())["processes"]
    profile = process["functions"][0]["profile"]
    # Its default linker is numba's, which measures no operations.
    assert profile is None if framework == "pytensor-3.3.7" else profile["calls"] == 4
    with pytest.raises(profiles.ProgramError, match="exit status 5") as raised:
        profiles.profile_program(own, variant, place, ["python", str(file), "5"])
    assert raised.value.exit_code == 5
    timed = run_once(Candidate(variant, place, Lock((), ()), None), ["python", str(file), "0"])
    assert 0 < timed.compile < timed.wall
    assert len(timed.steps) == 3 and timed.first_step and timed.first_step < timed.wall
