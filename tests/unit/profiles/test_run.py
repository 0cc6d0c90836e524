"""Profiles of workloads and of a user's program, and their reports."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from integration.programs import called

from stacks.core.errors import UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.environments.folders import workload_reports
from stacks.environments.programs import SUITE
from stacks.profiles import compare as profile_compare
from stacks.profiles import run as profile_runs
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.profiles import case, profile, report, tables

SLOW = profile(tables("Dot22", 2.0, 400, "Py", 4), tables("Gemm", 0.4, 10, "C"))
FAST = profile(tables("Dot22", 0.5, 400, "C", 4), tables("Gemm", 0.6, 10, "C"))


def program(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return called([sys.executable, SUITE, profile_runs.PROGRAM, *words])


def test_an_unknown_workload_and_a_missing_report_are_errors_with_what_is_known(
    workspace: Workspace,
) -> None:
    with pytest.raises(UsageError, match="no workload ntn") as caught:
        profile_runs.check_workload("ntn")
    assert "ntm, gibbs, scan_gc, scan_outside, lstm, logreg, mlp, lenet, check_blas" in str(
        caught.value
    )
    with pytest.raises(UsageError, match=r"--variant theano-0\.8\.2/blis --workload scan_gc"):
        profile_runs.find_report(workspace, "theano-0.8.2/blis", "scan_gc", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": 1, "workl', "not valid JSON"),
        ("[]", "not a workload's report"),
        ('{"schema": 1, "checks": []}', "not a workload's report"),
        ('{"schema": 1, "workload": "ntm", "cases": []}', "another version of the report's schema"),
    ],
)
def test_a_file_that_is_not_a_report_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        profile_runs.read_report(path)


def test_the_program_shows_a_report_in_theanos_form(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report(case(SLOW))))
    done = program("--show", path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "openblas: ntm, float32 on theano 1.0.5, Python 3.9.2"
    assert "  Time in 10 calls to Function.__call__: 3.150000e+00s" in lines
    assert "    Theano Optimizer time: 3.000000e+00s" in lines
    assert "Scan Op profiling ( forall_inplace,cpu,walk} )" in lines
    assert "  Time in 10 calls of the op (for a total of 100 steps) 2.500000e+00s" in lines
    assert "  Total overhead (computing slices..) 4.000000e-01s (16.000%)" in lines
    (dot,) = [line.split() for line in lines if line.endswith("theano.tensor.blas.Dot22")]
    assert dot == ["100.0%", "100.0%", "2.000s", "5.00e-03s", "Py", "400", "4", dot[-1]]


def test_a_report_follows_its_schema() -> None:
    schema = json.loads((SUITE / "workloads/report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    whole = copy.deepcopy(report(case(SLOW), case(None)))
    jsonschema.validate(whole, schema)
    whole["cases"][0]["profile"]["scans"][0]["classes"][0]["type"] = "C++"
    with pytest.raises(jsonschema.ValidationError, match=r"C\+\+"):
        jsonschema.validate(whole, schema)


# The parts of the framework that the hook reads, with a function that was compiled only.
PROFILING = """
import atexit
_atexit_print_list, _atexit_registered = [], False
class ProfileStats:
    message = "step"
    compile_time = optimizer_time = validate_time = linker_time = import_time = 1.0
    apply_time = {}
    def __init__(self):
        _atexit_print_list.append(self)
        if not _atexit_registered:
            atexit.register(print, "the framework's own tables")
class ScanProfileStats(ProfileStats):
    pass
"""


@pytest.fixture
def variant(own_workspace: Workspace) -> Variant:
    return load_variant(own_workspace, "openblas")


@pytest.fixture
def environment(variant: Variant, tmp_path: Path) -> dict[str, str]:
    """Variables for a program on a framework of three lines, with a sitecustomize of its own."""
    own = tmp_path / "own"
    (own / "theano/compile").mkdir(parents=True)
    start = "__version__ = '1'\nfrom theano.compile import profiling\nimport colorsys\n"
    (own / "theano/__init__.py").write_text(start)
    (own / "theano/compile/__init__.py").write_text("")
    (own / "theano/compile/profiling.py").write_text(PROFILING)
    (own / "sitecustomize.py").write_text("import builtins; builtins.is_chained = True\n")
    (tmp_path / "reports").mkdir()
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(own), "THEANO_FLAGS": "floatX=float32"}
    return profile_runs.profiling_variables(variant, env, tmp_path / "reports", memory=False)


def run(environment: dict[str, str], text: str) -> subprocess.CompletedProcess[str]:
    return called([sys.executable, "-c", text], env=environment)


def test_the_flags_of_the_person_come_first(variant: Variant, tmp_path: Path) -> None:
    env = profile_runs.profiling_variables(variant, {"THEANO_FLAGS": "a=b"}, tmp_path, memory=True)
    assert env["THEANO_FLAGS"] == "a=b,profile=True,profile_memory=True"
    assert env["PYTHONPATH"] == str(profile_runs.HOOK)


@pytest.mark.parametrize(
    ("end", "status"), [("", 0), ("import sys; sys.exit(7)", 7), ("raise ValueError", 1)]
)
def test_output_status_and_other_hooks_are_the_programs_own(
    environment: dict[str, str], tmp_path: Path, end: str, status: int
) -> None:
    result = run(
        environment,
        f"import theano; theano.compile.profiling.ProfileStats(); print(is_chained)\n{end}",
    )
    assert result.returncode == status
    assert result.stdout == "True\n"
    assert "theano-stacks" not in result.stderr
    [process] = profile_runs.read_processes(tmp_path / "reports")
    [function] = process["functions"]
    assert process["framework"] == {"module": "theano", "version": "1"}
    assert (function["name"], function["profile"]) == ("step", None)
    assert function["compile"]["total"] == 1.0


def test_a_child_of_multiprocessing_has_a_report_of_its_own(
    environment: dict[str, str], tmp_path: Path
) -> None:
    text = (
        "import multiprocessing, theano\n"
        "context = multiprocessing.get_context('fork')\n"
        "child = context.Process(target=theano.compile.profiling.ProfileStats)\n"
        "child.start(); child.join()"
    )
    assert run(environment, text).returncode == 0
    assert len(profile_runs.read_processes(tmp_path / "reports")) == 1


@pytest.mark.parametrize(
    ("words", "code", "found"),
    [
        ("exit 7", 7, "exit status 7"),
        ("kill -9 $$", 137, "killed by signal 9"),
        ("exit 0", 1, "no function was compiled"),
    ],
)
def test_nothing_is_stored_of_a_program_that_failed(
    own_workspace: Workspace, variant: Variant, tmp_path: Path, words: str, code: int, found: str
) -> None:
    with pytest.raises(profile_runs.ProgramError) as raised:
        profile_runs.profile_program(own_workspace, variant, tmp_path, ["sh", "-c", words])
    assert raised.value.exit_code == code
    assert found in str(raised.value.found)
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        profile_runs.profile_program(own_workspace, variant, tmp_path, ["no-such-program"])
    assert not (workload_reports(own_workspace, variant) / "program.json").exists()


@pytest.mark.parametrize("kind", ["classes", "ops", "applies"])
def test_the_costs_of_a_call_sum_up_to_it(kind: str) -> None:
    found = profile_compare.operation_times(SLOW, kind)
    assert sum(cost.seconds for cost in found.values()) == pytest.approx(SLOW["seconds"] / 10)
    assert found[profile_compare.OVERHEAD].seconds == pytest.approx(0.05)
    assert found[profile_compare.CALLING].seconds == pytest.approx(0.025)
    assert not any("Scan" in name or "forall" in name for name in found)


def test_the_largest_change_comes_first() -> None:
    rows = profile_compare.differences(SLOW, FAST, "classes")
    assert [row.name for row in rows[:2]] == ["Dot22", "Gemm"]
    assert rows[0].gained == pytest.approx(-0.15) and rows[0].now_in_c
    assert rows[1].gained == pytest.approx(0.02) and not rows[1].now_in_c
    before = rows[0].before
    assert before and (before.seconds, before.type, before.applies) == (0.2, "Py", 4)


def test_the_table_names_the_ops_that_are_c_now(capsys: pytest.CaptureFixture[str]) -> None:
    profile_compare.show(
        report(case(SLOW), variant="pip-default"), report(case(FAST, seconds=0.008))
    )
    output = capsys.readouterr().out
    assert "ntm step, float32: pip-default on theano-1.0.5 -> openblas on theano-1.0.5" in output
    assert "10.000 -> 8.000 ms, 0.800 of it" in output
    assert "the graphs are the same" in output
    assert "Py -> C" in output and "from Py to C: Dot22{inplace}; -150.000 ms a call" in output


def test_different_graphs_of_one_framework_are_a_remark(capsys: pytest.CaptureFixture[str]) -> None:
    other = case(FAST, signature="c" * 12)
    other["graph"]["scans"] *= 2
    profile_compare.show(report(case(SLOW)), report(other))
    output = capsys.readouterr().out
    assert "the graphs differ: aaaaaaaaaaaa (3 nodes, 1 scans) -> cccccccccccc" in output
    assert "may be chance" in output
    # Without a profile the calls still compare.
    profile_compare.show(report(case(SLOW)), report(case(None)))
    output = capsys.readouterr().out
    assert "10.000 -> 10.000 ms" in output and "has no profile" in output


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"workload": "lstm"}, "workload differs"),
        ({"dtype": "float64"}, "dtype differs"),
        ({"cases": []}, "do not share a case"),
    ],
)
def test_different_work_does_not_compare(other: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        profile_compare.show(report(case(SLOW)), report(case(FAST)) | other)
