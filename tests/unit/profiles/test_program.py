from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.environments.folders import workload_reports
from stacks.profiles import run as program
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

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
    return program.profiling_variables(variant, env, tmp_path / "reports", memory=False)


def run(environment: dict[str, str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False
    )


def test_the_flags_of_the_person_come_first(variant: Variant, tmp_path: Path) -> None:
    env = program.profiling_variables(variant, {"THEANO_FLAGS": "a=b"}, tmp_path, memory=True)
    assert env["THEANO_FLAGS"] == "a=b,profile=True,profile_memory=True"
    assert env["PYTHONPATH"] == str(program.HOOK)


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
    [process] = program.read_processes(tmp_path / "reports")
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
    assert len(program.read_processes(tmp_path / "reports")) == 1


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
    with pytest.raises(program.ProgramError) as raised:
        program.profile_program(own_workspace, variant, tmp_path, ["sh", "-c", words])
    assert raised.value.exit_code == code
    assert found in str(raised.value.found)
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        program.profile_program(own_workspace, variant, tmp_path, ["no-such-program"])
    assert not (workload_reports(own_workspace, variant) / "program.json").exists()
