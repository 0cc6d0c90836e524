import fcntl
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from stacks.core.errors import UsageError
from stacks.core.locking import acquire
from stacks.core.process import ended_once
from stacks.core.workspace import Workspace
from stacks.environments.use import jobs
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import add
from unit.helpers.processes import interrupt_at_start, wait_until_ended
from verify.core import machine


@pytest.fixture
def variant(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Variant:
    for name in jobs.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return load_variant(workspace, "openblas")


def jobs_of(command: str, lines: bytes | None, folder: Path) -> list[jobs.Job]:
    over = folder / "over"
    if lines is not None:
        over.write_bytes(lines)
    return jobs.jobs_of(command.split(), over if lines is not None else None)


@pytest.mark.parametrize(
    ("command", "lines", "commands"),
    [
        ("python x.py --rate={} {}.log ::: 1 2", None, ["--rate=1 1.log", "--rate=2 2.log"]),
        ("python x.py ::: 1 2", None, ["1", "2"]),
        ("python x.py", "é\n\n2\n".encode(), ["é", "2"]),
        # As editors on Windows write it; other ends of a line are of the argument.
        ("python x.py", "\ufeff0.1\r\na\u2028b\r\n".encode(), ["0.1", "a\u2028b"]),
    ],
)
def test_the_command_of_each_argument(
    command: str, lines: bytes | None, commands: list[str], tmp_path: Path
) -> None:
    every = jobs_of(command, lines, tmp_path)
    assert [" ".join(job.words) for job in every] == [f"python x.py {each}" for each in commands]


@pytest.mark.parametrize(
    ("command", "lines", "message"),
    [
        ("python x.py", None, "no arguments"),
        ("python x.py", b"\n", "no arguments"),
        ("::: 1", None, "nothing to run"),
        ("python ::: 1", b"2", "and after"),
        ("python", b"a\0b\0", "zero bytes"),
        ("python", b"\xff", "is not UTF-8"),
    ],
)
def test_arguments_that_are_refused(
    command: str, lines: bytes | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        jobs_of(command, lines, tmp_path)
    with pytest.raises(UsageError, match="No such file"):
        jobs.jobs_of(["python"], tmp_path / "missing")


def test_cores_are_shared_out_unless_the_person_chose(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "usable_cores", lambda: 8)
    shares = jobs.shared_out(variant, {"MKL_NUM_THREADS": "7"}, 3, 9)
    assert shares["OPENBLAS_NUM_THREADS"] == shares["OMP_NUM_THREADS"] == "2"
    assert shares["MKL_NUM_THREADS"] == "7"
    assert set(jobs.shared_out(variant, {}, 9, 20).values()) == {"1"}
    assert set(jobs.shared_out(variant, {}, 9, 2).values()) == {"4"}
    # Each library takes its own variable before this one, which numba does not read.
    own = variant.model_copy(update={"variables": {"OMP_NUM_THREADS": "3"}})
    assert jobs.shared_out(own, {}, 3, 9) == {"NUMBA_NUM_THREADS": "2"}


def sweep(variant: Variant, logs: Path, program: str, *arguments: str, at_once: int = 1) -> None:
    """Run a Python program over arguments."""
    every = jobs.jobs_of([sys.executable, "-uc", program, jobs.LIST, *arguments], None)
    jobs.run_jobs(variant, logs / "prefix", every, at_once, logs)


def test_each_run_has_a_log_and_a_row_and_the_failures_are_listed(
    variant: Variant, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import os, sys; n = int(sys.argv[1]); print(n, os.environ['OMP_NUM_THREADS'])"
    program += "; n == 3 and os.kill(os.getpid(), 9); sys.exit(n == 2)"
    with pytest.raises(jobs.JobsError, match="2 of 3 jobs failed") as raised:
        sweep(variant, tmp_path, program, "1", "2", "3", at_once=2)
    assert raised.value.exit_code == 1
    failures = ["2: 2: failed with status 1", "3: 3: killed by signal 9"]
    assert sorted(str(raised.value.found).splitlines()) == failures
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert (tmp_path / "1.log").read_text() == f"1 {share}\n"
    assert "1: 1: done" in capfd.readouterr().out
    head, *rows = (line.split("\t") for line in (tmp_path / jobs.TABLE).read_text().splitlines())
    assert head == ["job", "status", "seconds", "argument"]
    assert sorted((row[0], row[1], row[3]) for row in rows) == [
        ("1", "0", "1"),
        ("2", "1", "2"),
        ("3", "-9", "3"),
    ]
    assert all(float(row[2]) >= 0 for row in rows)


def test_the_next_sweep_removes_the_logs_of_the_last_and_a_row_is_a_line(
    variant: Variant, tmp_path: Path
) -> None:
    sweep(variant, tmp_path, "", "1", "2", "3")
    (tmp_path / "notes.log").write_text("a person's own")
    sweep(variant, tmp_path, "", "a\tb\nc\\d")
    assert sorted(path.name for path in tmp_path.glob("*.log")) == ["1.log", "notes.log"]
    _, row = (tmp_path / jobs.TABLE).read_text().splitlines()
    assert row.split("\t")[3:] == [r"a\tb\nc\\d"]


@pytest.mark.parametrize("name", ["logs/1.log", "logs/jobs.tsv", "logs"])
def test_a_file_of_another_origin_is_not_replaced(
    name: str, variant: Variant, tmp_path: Path
) -> None:
    path = add(tmp_path, name, "1 2 3\n")
    message = "logs is no folder" if name == "logs" else f"logs has {path.name}, which no run"
    with pytest.raises(UsageError, match=message) as caught:
        sweep(variant, tmp_path / "logs", "", "1")
    assert caught.value.fix and caught.value.fix.endswith("--logs FOLDER")
    assert path.read_text() == "1 2 3\n"


def test_two_sweeps_do_not_share_a_folder_of_logs(variant: Variant, tmp_path: Path) -> None:
    held = acquire(tmp_path / ".lock", fcntl.LOCK_EX)
    assert held is not None
    try:
        with pytest.raises(UsageError, match="another run --jobs writes its logs"):
            sweep(variant, tmp_path, "", "1")
    finally:
        os.close(held)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_runs(number: int, variant: Variant, tmp_path: Path) -> None:
    """A run that takes 1000 s, as its child does, signals its parent once both have started."""
    program = "import os, subprocess, sys, time; child = subprocess.Popen(['sleep', '1000']); "
    program += f"print(child.pid, flush=True); os.kill(os.getppid(), {int(number)}); "
    program += "time.sleep(1000)"
    with pytest.raises((KeyboardInterrupt, SystemExit)) as raised, ended_once():
        sweep(variant, tmp_path, program, "1", "2")
    if number != signal.SIGINT:
        assert isinstance(raised.value, SystemExit)
        assert raised.value.code == 128 + number
    child, *trace = (tmp_path / "1.log").read_text().splitlines()
    assert trace[-1] == "KeyboardInterrupt"
    with suppress(psutil.NoSuchProcess):
        wait_until_ended(psutil.Process(int(child)))
    assert not (tmp_path / "2.log").exists()


def test_a_signal_while_a_run_is_started_ends_it(
    variant: Variant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = interrupt_at_start(monkeypatch, jobs)
    with pytest.raises(KeyboardInterrupt):
        sweep(variant, tmp_path, "import time; time.sleep(1000)", "1")
    # A Python that is interrupted while it imports its own modules ends with 1.
    assert started[0].returncode in (-signal.SIGINT, 1)
