"""What goes between the one who asks and the workers, and what is kept of it."""

from __future__ import annotations

import io
import platform
import socket
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from stacks.bench import machine
from stacks.bench.options import BenchOptions
from stacks.cluster import command, connect, fingerprint, job, programs
from stacks.cluster import table as cluster_table
from stacks.cluster import worker as cluster_worker
from stacks.cluster.connect import Worker
from stacks.cluster.messages import Answer, Order, Outcome, RemoteError
from stacks.cluster.resume import open_session
from stacks.core.errors import StacksError, StaleError, UsageError
from stacks.core.process import CommandError, overseen
from stacks.core.workspace import Workspace
from unit.helpers.benching import BASE, FAST, MACHINE, result, runs

ORDER = Order(commit="c" * 40, files={"a": "1"}, machine="", variants=("theano-1.0.5/mkl",))
PYTHON = sys.executable
HERE = {"stacks/a.py": "1", "envs/b": "2"}


def test_the_same_checkout_is_taken(workspace: Workspace, tmp_path: Path) -> None:
    fingerprint.check(HERE, "c" * 40, dict(HERE), None)
    (tmp_path / "stacks/__pycache__").mkdir(parents=True)
    (tmp_path / "stacks/__pycache__/a.pyc").touch()
    (tmp_path / "stacks/.ruff_cache").mkdir()
    (tmp_path / "stacks/.ruff_cache/CACHEDIR.TAG").touch()
    (tmp_path / "stacks/a.py").write_text("a")
    (tmp_path / "requirements.lock").write_text("b")
    (tmp_path / "README.md").write_text("nothing follows from it")
    assert sorted(fingerprint.files(replace(workspace, root=tmp_path))) == [
        "requirements.lock",
        "stacks/a.py",
    ]


def test_another_commit_is_refused_with_the_command_that_fixes_it() -> None:
    with pytest.raises(StaleError) as caught:
        fingerprint.check(HERE, "c" * 40, {**HERE, "envs/b": "3", "envs/c": "4"}, "d" * 40)
    assert caught.value.expected == f"commit {'c' * 40}, and its very files"
    assert caught.value.found == f"commit {'d' * 40}; 2 files with other bytes: envs/b, envs/c"
    assert caught.value.fix == f"on that machine: git checkout {'c' * 40}"


def test_a_changed_file_of_the_same_commit_is_refused() -> None:
    with pytest.raises(StaleError, match="the same commit, but 1 file with other bytes: envs/b"):
        fingerprint.check(HERE, "c" * 40, {**HERE, "envs/b": "3"}, "c" * 40)


def test_an_order_and_its_answer_travel_whole() -> None:
    order = ORDER.model_copy(
        update={"timing": BenchOptions(workload="gemm", rounds=5, threads="1-2", quick=True)}
    )
    assert Order.model_validate_json(order.model_dump_json()) == order
    outcome = Outcome(
        variant="f/v", status="failed", error=RemoteError(what="w"), report={"ok": False}
    )
    answer = Answer(outcomes=(outcome,), result=result(runs(BASE, [1.0] * 5), BASE))
    assert Answer.model_validate_json(answer.model_dump_json(by_alias=True)) == answer
    assert not answer.whole
    assert Answer(outcomes=(Outcome(variant="f/v", status="no device"),)).whole


def test_an_error_comes_back_with_the_machine_that_met_it() -> None:
    error = RemoteError.of(UsageError("no such thing", expected=1, fix="do this")).error("a-1")
    assert str(error) == "a-1: no such thing\n  expected: 1\n  fix:      do this"


def test_what_was_finished_is_found_again_until_all_is(tmp_path: Path) -> None:
    first = open_session(FIXME_cluster(tmp_path), ORDER)
    first.keep("theano-1.0.5/mkl", "a-1", Answer(result=result(runs(BASE, [1.0] * 5), BASE)))
    kept = open_session(FIXME_cluster(tmp_path), ORDER).kept("theano-1.0.5/mkl")
    assert kept and kept.worker == "a-1" and kept.answer.result
    assert first.kept("theano-1.0.5/blis") is None
    other = ORDER.model_copy(update={"files": {"a": "2"}})
    assert open_session(FIXME_cluster(tmp_path), other).kept("theano-1.0.5/mkl") is None
    [path] = first.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    assert first.kept("theano-1.0.5/mkl") is None
    first.finish()
    assert not first.folder.exists()


def test_a_worker_has_one_thread_and_a_label(tmp_path: Path) -> None:
    words = programs.worker_words("tcp://s:1", "big", ["--interface", "ib0"])
    told = dict(zip(words[2::2], words[3::2], strict=False))
    assert words[:2] == ["distributed.cli.dask_worker", "tcp://s:1"]
    assert told["--nthreads"] == told["--nworkers"] == "1"
    assert words[words.index("--resources") + 1] == "theano-stacks=1 theano-stacks-machine-big=1"
    assert words[-2:] == ["--interface", "ib0"]
    boot = tmp_path / "boot_id"
    boot.write_text("1b-2c\n")
    assert programs.label("", boot) == "theano-stacks-boot-1b-2c"
    assert programs.label("", tmp_path / "none") == f"theano-stacks-boot-{socket.gethostname()}"
    with pytest.raises(UsageError, match="--name Big One: not the name of a machine"):
        programs.worker_words("tcp://s:1", "Big One")
    with pytest.raises(UsageError, match="--help: not the address of a scheduler"):
        programs.worker_words("--help", "")


@pytest.mark.parametrize(
    ("resources", "status", "found"),
    [
        ({"theano-stacks": 1.0, "theano-stacks-machine-big": 1.0}, "running", "big"),
        ({"theano-stacks": 1.0, "theano-stacks-machine-big": 1.0}, "closing", None),
        ({"GPU": 2.0}, "running", None),
        ({"theano-stacks": 1.0}, "running", None),
    ],
)
def test_which_workers_are_ours(resources: Any, status: str, found: str | None) -> None:
    info = {"resources": resources, "status": status, "name": "big-7"}
    worker = connect._worker("tcp://w:1", info)
    assert (worker.named if worker else None) == found


def test_something_else_that_listens_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with (
            pytest.raises(UsageError, match="no scheduler answers there"),
            connect.connected(address, lambda who, line: None),
        ):
            pass


def test_one_worker_of_a_machine_waits_for_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    entered = threading.Event()
    # capsys would lose what another thread writes while it is read.
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())

    def other() -> None:
        with job.alone("a machine of a test"):
            entered.set()

    thread = threading.Thread(target=other)
    with job.alone("a machine of a test"), job.alone("another machine of a test"):
        thread.start()
        while "waiting: another worker" not in said.getvalue():
            assert not entered.is_set()
    thread.join()
    assert entered.is_set()


def test_a_named_machine_keeps_its_results_where_the_name_is_taken(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def name_for(machine: object, wanted: str | None) -> str:
        if wanted == "taken":
            raise UsageError("results/taken has results of another machine")
        return wanted or "made-up"

    monkeypatch.setattr("stacks.bench.store.name_for", name_for)
    found = result(runs(BASE, [1.0] * 5), BASE)
    for wanted, given in (("big", "big"), (None, "made-up"), ("taken", "made-up")):
        worker = Worker("tcp://w:1", "w-1", "m", wanted)
        assert command._named(workspace, found, worker).machine.name == given
    assert "results/taken has results of another machine" in capsys.readouterr().err


def test_machines_stand_side_by_side_and_are_not_divided(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slow = result([*runs(BASE, [10.0] * 7), *runs(FAST, [20.0] * 7)], BASE, FAST)
    quick = result(runs(BASE, [90.0] * 7), BASE, machine=MACHINE)
    cluster_table.beside({"slow-1": slow, "quick-2": quick})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["slow-1", "quick-2"]
    assert lines[1][-3:] == ["base", "10.0", "90.0"]
    assert lines[2][-4:] == ["fast", "20.0", "(2.00)", "-"]


def test_a_failure_ends_with_status_1_and_keeps_the_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = open_session(FIXME_cluster(tmp_path), ORDER)
    kept.keep("x", "a-1", Answer())
    found = command._Found()
    outcome = Outcome(variant="f/v", status="failed", error=RemoteError(what="f/v failed"))
    found.take("a-1", Answer(outcomes=(outcome,)))
    with pytest.raises(StacksError, match="2 things failed") as caught:
        command._end(found, [UsageError("no worker")], kept)
    assert caught.value.exit_code == 1 and kept.kept("x")
    said = capsys.readouterr().err
    assert "error: a-1: f/v failed\n" in said and "error: no worker\n" in said


def test_a_device_that_is_not_there_is_told_and_is_done_with(tmp_path: Path) -> None:
    kept = open_session(FIXME_cluster(tmp_path), ORDER)
    kept.keep("x", "a-1", Answer())
    found = command._Found()
    outcome = Outcome(variant="f/v", status="no device", error=RemoteError(what="no device"))
    found.take("a-1", Answer(outcomes=(outcome,)))
    with pytest.raises(StacksError, match="not everything could be verified") as caught:
        command._end(found, [], kept)
    assert caught.value.exit_code == 3 and caught.value.found == "f/v: no device on a-1"
    assert not kept.kept("x")


def test_a_program_that_is_overseen() -> None:
    code = "import sys; print('told', file=sys.stderr); print(sys.stdin.readline()[::-1])"
    lines: list[str] = []
    words = [PYTHON, "-c", code]
    assert overseen(words, "abc", lines.append, lambda: True) == "\ncba\n"
    assert lines == ["told"]
    with pytest.raises(CommandError) as caught:
        overseen([PYTHON, "-c", "raise SystemExit('because')"], "x", lines.append, lambda: True)
    assert caught.value.what.endswith("because") and caught.value.found == "exit status 1"
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        overseen(["no-such-program"], "", lines.append, lambda: True)


def test_a_program_that_no_one_wants_any_more_ends_with_all_that_it_started() -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen(['cat'], stdin=subprocess.PIPE);"
        "print(child.pid, file=sys.stderr, flush=True); sys.stdin.read()"
    )
    lines: list[str] = []
    assert overseen([PYTHON, "-c", code], "", lines.append, lambda: not lines) is None
    # Who inherits it may not have buried it yet.
    with suppress(psutil.NoSuchProcess):
        assert psutil.Process(int(lines[0])).status() == psutil.STATUS_ZOMBIE


def test_a_report_of_another_machine_does_not_count_here(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("model name\t: Here\n")
    told = {"cpu": "Here", "kernel": platform.release()}
    assert machine.is_here({"machine": told}, cpuinfo)
    assert not machine.is_here({"machine": {**told, "cpu": "There"}}, cpuinfo)
    assert not machine.is_here({"machine": {**told, "kernel": "1.0"}}, cpuinfo)


def test_nothing_of_dasks_own_settings_reaches_what_is_timed() -> None:
    dasks = {"OMP_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "65536", "PYTHONHASHSEED": "6640"}
    own = {"PATH": "/bin", "MKL_NUM_THREADS": "4"}
    assert cluster_worker.environment({**dasks, **own, "PYTHONPATH": "/checkout"}) == own
