from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.programs import SUITE
from stacks.profiles import run as profile_runs
from unit.helpers.killed import kill_during_import, slow_environment
from unit.helpers.profiles import case, profile, report, tables

SLOW = profile(tables("Dot22", 2.0, 400, "Py", 4), tables("Gemm", 0.4, 10, "C"))


def program(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SUITE, profile_runs.PROGRAM, *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_workload_options_become_the_programs_words() -> None:
    assert profile_runs.workload_words("ntm", calls=0, case="", small=False) == ["ntm"]
    words = profile_runs.workload_words("lstm", calls=5, case="merged", fix_scan=True)
    assert words == ["lstm", "--calls", "5", "--case", "merged", "--fix-scan"]


def test_a_workload_ends_with_a_killed_profile(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from stacks.profiles import run\n"
        "from stacks.core.workspace import default_workspace\n"
        "from stacks.variants.load import load_variant\n"
        "variant = load_variant(default_workspace(), 'openblas')\n"
        "run.profile(default_workspace(), variant, pathlib.Path(sys.argv[1]), ['logreg'])"
    )
    kill_during_import(tmp_path, code, slow_environment(tmp_path))


def test_the_error_for_an_unknown_workload_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no workload ntn") as caught:
        profile_runs.check_workload("ntn")
    assert "ntm, gibbs, scan_gc, scan_outside, lstm, logreg, mlp, lenet, check_blas" in str(
        caught.value
    )


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


def test_the_error_for_a_missing_report_has_a_fix(workspace: Workspace) -> None:
    with pytest.raises(UsageError) as caught:
        profile_runs.find_report(workspace, "theano-0.8.2/blis", "scan_gc", None)
    assert "--variant theano-0.8.2/blis --workload scan_gc" in str(caught.value)


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
    whole = report(case(SLOW), case(None))
    jsonschema.validate(whole, schema)
    whole["cases"][0]["profile"]["scans"][0]["classes"][0]["type"] = "C++"
    with pytest.raises(jsonschema.ValidationError, match=r"C\+\+"):
        jsonschema.validate(whole, schema)
