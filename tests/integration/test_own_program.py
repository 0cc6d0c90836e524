"""A person's own program under the tools, in real environments: profiled, timed, run over words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.conftest import Prefix
from stacks.bench.candidates import Candidate
from stacks.bench.user_program import run_once
from stacks.core.workspace import Workspace
from stacks.locks.lock import Lock
from stacks.profiles import run as profiles
from stacks.variants.load import load_variant

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
