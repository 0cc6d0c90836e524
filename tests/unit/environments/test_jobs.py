from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.environments import jobs
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


@pytest.fixture
def variant(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Variant:
    for name in jobs.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return load_variant(workspace, "openblas")


def test_the_words_after_the_colons_are_the_arguments() -> None:
    every = jobs.jobs_of(["python", "x.py", "--rate={}", "{}.log", ":::", "1", "a b"], None)
    assert [job.words for job in every] == [
        ("python", "x.py", "--rate=1", "1.log"),
        ("python", "x.py", "--rate=a b", "a b.log"),
    ]


def test_lines_of_a_file_come_last_without_a_place(tmp_path: Path) -> None:
    over = tmp_path / "over"
    over.write_text("é\n\n2\n", "utf-8")
    assert [job.words[-1] for job in jobs.jobs_of(["python", "x.py"], over)] == ["é", "2"]


def test_no_arguments_no_command_two_sources_and_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no arguments"):
        jobs.jobs_of(["python", "x.py"], None)
    with pytest.raises(UsageError, match="nothing to run"):
        jobs.jobs_of([":::", "1"], None)
    with pytest.raises(UsageError, match="No such file"):
        jobs.jobs_of(["python"], tmp_path / "missing")
    with pytest.raises(UsageError, match="and after"):
        jobs.jobs_of(["python", ":::", "1"], tmp_path / "over")


def test_cores_are_shared_out_unless_the_person_chose() -> None:
    shares = jobs.threads_each(3, 8, {"OMP_NUM_THREADS": "7"})
    assert shares["OPENBLAS_NUM_THREADS"] == "2"
    assert "OMP_NUM_THREADS" not in shares
    assert set(jobs.threads_each(9, 8, {}).values()) == {"1"}


def test_each_run_has_a_log_and_the_failures_are_listed(
    variant: Variant, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import os, sys; n = int(sys.argv[1]); print(n, os.environ['OMP_NUM_THREADS'])"
    program += "; n == 3 and os.kill(os.getpid(), 9); sys.exit(n == 2)"
    every = jobs.jobs_of([sys.executable, "-uc", program, "{}", ":::", "1", "2", "3"], None)
    with pytest.raises(jobs.JobsError) as raised:
        jobs.run_jobs(variant, tmp_path / "prefix", every, 2, tmp_path / "logs")
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert (tmp_path / "logs/1.log").read_text() == f"1 {share}\n"
    assert "2 of 3 jobs failed" in str(raised.value)
    assert raised.value.exit_code == 1
    assert "2: 2: failed with status 1" in str(raised.value.found)
    assert "3: 3: killed by signal 9" in str(raised.value.found)
    assert "1: 1: done" in capfd.readouterr().out


def test_an_interrupt_ends_the_runs(variant: Variant, tmp_path: Path) -> None:
    """A run that takes 1000 s interrupts its parent, once it has started."""
    program = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(1000)"
    every = jobs.jobs_of([sys.executable, "-c", program, ":::", "1", "2"], None)
    with pytest.raises(KeyboardInterrupt):
        jobs.run_jobs(variant, tmp_path / "prefix", every, 1, tmp_path / "logs")
    assert "KeyboardInterrupt" in (tmp_path / "logs/1.log").read_text()
    assert not (tmp_path / "logs/2.log").exists()


def test_a_missing_program_is_named(variant: Variant, tmp_path: Path) -> None:
    every = jobs.jobs_of(["no-such-program", ":::", "1"], None)
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        jobs.run_jobs(variant, tmp_path / "prefix", every, 1, tmp_path / "logs")
