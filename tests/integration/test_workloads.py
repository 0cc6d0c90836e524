"""The workloads, small, on real environments: do they run, and are they timed and right?"""

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from integration import programs
from integration.conftest import Prefix
from stacks.bench.candidates import Candidate
from stacks.bench.processes import start_program
from stacks.bench.result import Series
from stacks.bench.schedule import BenchOptions, Plan
from stacks.bench.user_program import run_once
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace, default_workspace
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.profiles import run as profiles
from stacks.variants.load import framework_names, load_variant

SUITE = REPOSITORY / "verify"
DRIVER = Path(__file__).with_name("gradient_driver.py")
EXPECTATION = "etc/theano-stacks/expect.json"


def run(place: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    # Threads that wait for one another make small products slow on a busy machine.
    return programs.run(place, *words, **{"OPENBLAS_NUM_THREADS": "1", **variables})


def report_of(place: Path, folder: Path, *words: str) -> dict[str, Any]:
    path = folder / "report.json"
    expected: list[str | Path] = ["--expect", place / EXPECTATION, "--json", path]
    done = run(place, SUITE, "workload", *words, "--small", *expected)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(path.read_text())
    jsonschema.validate(report, json.loads((SUITE / "workloads/report.schema.json").read_text()))
    profiles = [case["profile"] for case in report["cases"] if case.get("profile")]
    # A table of classes for each case, and one for each of its scans.
    tables = sum(1 + len(profile["scans"]) for profile in profiles)
    assert done.stdout.count("Class\n---") == tables
    assert bool(profiles) == ("--profile-calls" not in words)
    return report


# On 0.8.2 the gradient takes ten times as long as it is.
@pytest.mark.parametrize(
    ("framework", "readers", "how"),
    [
        ("theano-1.0.5", 2, "as it is"),
        ("theano-0.8.2", 2, "fixed"),
        ("pytensor-3.3.7", 1, "as it is"),
        ("pytensor-3.3.7", 2, "fixed"),
    ],
)
def test_the_gradients_of_the_neural_turing_machine_are_those_of_finite_differences(
    prefix: Prefix, framework: str, readers: int, how: str
) -> None:
    place = prefix(framework, "pip-openblas")
    done = run(place, DRIVER, REPOSITORY / "verify", str(readers), how)
    assert done.returncode == 0, done.stderr
    slopes = json.loads(done.stdout)
    parameters = 2 + 12 + readers * 10 + 14
    assert len(slopes) == parameters, "every parameter of controller, heads and output"
    for name, (by_gradient, by_differences) in slopes.items():
        assert by_gradient == pytest.approx(by_differences, rel=1e-4, abs=1e-8), name


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_a_report_has_calls_compilation_graph_and_profile(
    prefix: Prefix, tmp_path: Path, framework: str
) -> None:
    report = report_of(prefix(framework, "pip-openblas"), tmp_path, "scan_gc", "--calls", "4")
    assert [case["name"] for case in report["cases"]] == ["allow_gc", "no_gc", "no_gc at all"]
    assert report["variant"] == "pip-openblas" and report["packages"]
    first, *others = report["cases"]
    assert [case["output"] for case in others] == [pytest.approx(first["output"])] * 2
    for case in report["cases"]:
        assert len(case["seconds"]) == 4 and min(case["seconds"]) > 0
        assert case["compile"]["total"] >= case["compile"]["optimiser"] > 0
        assert len(case["graph"]["scans"]) == 1
        profile = case["profile"]
        assert profile["calls"] == 4
        (scan,) = profile["scans"]
        assert (scan["calls"], scan["steps"]) == (4, 20)
        assert scan["seconds"] >= scan["vm_seconds"] > 0
        products = [row for row in scan["classes"] if row["class"].endswith(("Gemm", "Dot22"))]
        assert {row["type"] for row in products} == {"C"}
        assert sum(row["calls"] for row in products) == 40
        assert sum(row["seconds"] for row in scan["ops"]) == pytest.approx(scan["thunk_seconds"])


@pytest.mark.parametrize("workload", ["lstm", "scan_outside"])
def test_the_slow_and_the_fast_way_compute_the_same_by_different_graphs(
    prefix: Prefix, tmp_path: Path, workload: str
) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    slow, fast, *_ = report_of(place, tmp_path, workload, "--calls", "2")["cases"]
    assert slow["output"] == pytest.approx(fast["output"], rel=1e-5)
    assert slow["graph"]["signature"] != fast["graph"]["signature"]


def test_the_optimiser_moves_the_weights_of_gibbs_out_of_the_scan(
    prefix: Prefix, tmp_path: Path
) -> None:
    """As docs/guides/profiling.md says: without that optimisation the two ways differ."""
    place = prefix("theano-1.0.5", "pip-openblas")
    cases = report_of(place, tmp_path, "gibbs", "--calls", "2")["cases"]
    moved, passed, written, passed_as_written = (case["graph"]["signature"] for case in cases)
    assert moved == passed
    assert written != passed_as_written


@pytest.mark.parametrize("framework", ["theano-pymc-1.1.2", "aesara-2.8.7"])
@pytest.mark.parametrize("workload", ["gibbs", "scan_gc", "scan_outside"])
def test_theanos_heirs_run_the_same_programs(
    prefix: Prefix, tmp_path: Path, framework: str, workload: str
) -> None:
    report = report_of(prefix(framework, "openblas"), tmp_path, workload, "--calls", "2")
    first, *others = (case["output"] for case in report["cases"])
    assert others == [pytest.approx(first, rel=1e-5)] * len(others)
    assert report["framework"]["name"] == framework


@pytest.mark.parametrize(
    ("framework", "flavour"),
    [
        ("theano-0.8.2", "pip-openblas"),
        ("aesara-2.8.7", "openblas"),
        ("pytensor-3.3.7", "pip-openblas"),
    ],
)
def test_the_tutorials_networks_have_the_same_cost_on_each_framework(
    prefix: Prefix, tmp_path: Path, framework: str, flavour: str
) -> None:
    """Convolution and pooling are Theano's, and made of other operations on PyTensor."""
    place, words = prefix(framework, flavour), ["--calls", "2", "--profile-calls", "0"]
    for workload, cost in (("lenet", 1.09012), ("mlp", 0.72881)):
        (case,) = report_of(place, tmp_path, workload, *words)["cases"]
        assert case["output"] == pytest.approx(cost, abs=1e-5)


@pytest.mark.parametrize("framework", ["theano-1.0.5", "pytensor-3.3.7"])
def test_a_fixed_lstm_compiles_to_the_same_graphs(
    prefix: Prefix, tmp_path: Path, framework: str
) -> None:
    place = prefix(framework, "pip-openblas")
    words = ["lstm", "--calls", "1", "--profile-calls", "0"]
    graphs = [
        [case["graph"] for case in report_of(place, tmp_path, *words, *more)["cases"]]
        for more in ([], ["--fix-scan"])
    ]
    assert graphs[0] == graphs[1]


def test_an_environment_without_the_fix_says_so(prefix: Prefix) -> None:
    done = run(prefix("theano-1.0.5", "pip-default"), SUITE, "workload", "ntm", "--fix-scan")
    assert done.returncode == 2
    assert "has no theano_stacks_scan" in done.stderr


ELEMENTWISE = ["exp float32 400x512", "tanh float32 400x512"]
PRODUCTS = ["Gemm float64 2000", "Gemm float32 2000"]


def candidate(workspace: Workspace, prefix: Prefix, framework: str, flavour: str) -> Candidate:
    variant = load_variant(workspace, flavour, framework)
    locked = lock.read(workspace, variant)
    return Candidate(variant, prefix(framework, flavour), locked, None)


def timed(of: Candidate, workload: str, *calls: int) -> list[list[Series]]:
    """Return the series of a workload's process, asked several times."""
    chosen = Plan((of,), BenchOptions(workload=workload, quick=True), (1,))
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


PROGRAM = """\
import sys, {module} as framework, {module}.tensor as tt
x = tt.matrix("x")
f = framework.function([x], tt.dot(tt.tanh(x), x).sum())
for _ in range(4):
    print("%.1f" % f([[1, 2], [3, 4]]))
    print("THEANO_STACKS_STEP")
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("framework", framework_names(default_workspace()))
def test_a_profile_and_a_timed_run(
    framework: str, workspace: Workspace, prefix: Prefix, tmp_path: Path
) -> None:
    place, variant = prefix(framework, "openblas"), load_variant(workspace, "openblas", framework)
    report, file = tmp_path / "report.json", tmp_path / "program.py"
    file.write_text(PROGRAM.format(module=variant.framework.module))
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
