"""Workers and what they are sent: programs, orders, answers, files, locks, tables."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask.config
import pytest

from stacks.bench.schedule import BenchOptions
from stacks.cluster import connect, job, messages, programs
from stacks.cluster.messages import Answer, Order, Outcome, RemoteError, Share
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.make import build
from stacks.environments.use.jobs import jobs_of
from unit.helpers.benching import BASE, result, runs
from unit.helpers.cluster import ORDER


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
    assert not answer.complete
    assert Answer(outcomes=(Outcome(variant="f/v", status="no device"),)).complete


def test_an_error_comes_back_with_the_machine_that_met_it() -> None:
    error = RemoteError.of(UsageError("no such thing", expected=1, fix="do this")).to_error("a-1")
    assert str(error) == "a-1: no such thing\n  expected: 1\n  fix:      do this"


HERE = {"stacks/a.py": "1", "envs/b": "2"}


def test_the_same_checkout_is_taken(workspace: Workspace, tmp_path: Path) -> None:
    messages.check(HERE, "c" * 40, dict(HERE), None)
    (tmp_path / "stacks/__pycache__").mkdir(parents=True)
    (tmp_path / "stacks/__pycache__/a.pyc").touch()
    (tmp_path / "stacks/.ruff_cache").mkdir()
    (tmp_path / "stacks/.ruff_cache/CACHEDIR.TAG").touch()
    (tmp_path / "stacks/a.py").write_text("a")
    (tmp_path / "requirements.lock").write_text("b")
    (tmp_path / "README.md").write_text("nothing follows from it")
    assert sorted(messages.digests(replace(workspace, root=tmp_path))) == [
        "requirements.lock",
        "stacks/a.py",
    ]


def test_another_checkout_is_refused_with_the_command_that_fixes_it() -> None:
    with pytest.raises(StaleError) as caught:
        messages.check(HERE, "c" * 40, {**HERE, "envs/b": "3", "envs/c": "4"}, "d" * 40)
    assert caught.value.expected == f"commit {'c' * 40} without changes"
    assert caught.value.found == f"commit {'d' * 40} with 2 different files: envs/b, envs/c"
    assert caught.value.fix == f"on that machine: git checkout {'c' * 40}"
    with pytest.raises(StaleError, match="the same commit with 1 different file: envs/b"):
        messages.check(HERE, "c" * 40, {**HERE, "envs/b": "3"}, "c" * 40)


def test_a_worker_has_one_thread_and_a_label(tmp_path: Path) -> None:
    words = programs.worker_command("tcp://s:1", "big", ["--interface", "ib0"])
    message = dict(zip(words[2::2], words[3::2], strict=False))
    assert words[:2] == ["distributed.cli.dask_worker", "tcp://s:1"]
    assert message["--nthreads"] == message["--nworkers"] == "1"
    assert words[words.index("--resources") + 1] == "theano-stacks=1 theano-stacks-machine-big=1"
    assert words[-2:] == ["--interface", "ib0"]
    boot = tmp_path / "boot_id"
    boot.write_text("1b-2c\n")
    assert programs.machine_label("", boot) == "theano-stacks-boot-1b-2c"
    assert (
        programs.machine_label("", tmp_path / "none")
        == f"theano-stacks-boot-{socket.gethostname()}"
    )
    with pytest.raises(UsageError, match="--name Big One: not the name of a machine"):
        programs.worker_command("tcp://s:1", "Big One")
    with pytest.raises(UsageError, match="--help: not the address of a scheduler"):
        programs.worker_command("--help", "")


def test_a_module_is_not_taken_from_the_working_folder(tmp_path: Path) -> None:
    for name in ("argparse.py", "runpy.py"):
        (tmp_path / name).write_text("raise SystemExit('mine')")
    words = programs.module_command("json.tool", "--help")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    said = subprocess.check_output(words, cwd=tmp_path, env=env, text=True)
    assert said.startswith("usage: ")


def test_of_dasks_own_settings_only_what_the_person_has_set_reaches_a_program() -> None:
    dasks = {"OMP_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "65536", "PYTHONHASHSEED": "6640"}
    own = {"PATH": "/bin", "MKL_NUM_THREADS": "4"}
    assert connect.clean_environment({**dasks, **own}) == own
    own = {"OMP_NUM_THREADS": "1", "PYTHONPATH": "/mine"}
    dasks = {"MALLOC_TRIM_THRESHOLD_": "65536", "THEANO_STACKS_SET": "OMP_NUM_THREADS PYTHONPATH"}
    assert connect.clean_environment({**own, **dasks}) == own


def test_one_worker_of_a_machine_waits_for_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    entered = threading.Event()
    # capsys would lose what another thread writes while it is read.
    monkeypatch.setattr(sys, "stderr", output := io.StringIO())

    def other() -> None:
        with job.machine_lock("a machine of a test"):
            entered.set()

    thread = threading.Thread(target=other)
    with job.machine_lock("x" * 200):
        pass
    with job.machine_lock("a machine of a test"), job.machine_lock("another machine of a test"):
        thread.start()
        while "waiting: another worker" not in output.getvalue():
            assert not entered.is_set()
    thread.join()
    assert entered.is_set()


VARIANT = "theano-1.0.5/openblas"


def test_each_job_has_its_status_and_the_end_of_its_log(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "make_environment", lambda *_: tmp_path / "prefix")
    monkeypatch.setattr(job, "MOST_LOG", 6)
    monkeypatch.chdir(tmp_path)
    program = "import os, sys; print(os.path.basename(os.getcwd()) and sys.argv[1]); sys.exit(2)"
    jobs = jobs_of([sys.executable, "-c", program, ":::", "1234567", "é"], None)
    folder = tmp_path / "here"
    folder.mkdir()
    order = Share(folder=str(folder), at_once=2, jobs=tuple(jobs), files={})
    answer = job.run_share(own_workspace, VARIANT, order)
    # As it is sent.
    answer = Answer.model_validate_json(answer.model_dump_json(by_alias=True))
    assert {run.job: (run.status, run.log) for run in answer.runs} == {
        1: (2, b"... 2 bytes left out\n34567\n"),
        2: (2, "é\n".encode()),
    }


def test_a_machine_without_the_folder_or_with_another_lock_refuses(
    own_workspace: Workspace, tmp_path: Path
) -> None:
    order = Share(folder=str(tmp_path / "missing"), at_once=1, jobs=(), files={})
    answer = job.run_share(own_workspace, VARIANT, order)
    assert answer.refused and answer.error and "missing is not on this machine" in answer.error.what
    file = tmp_path / "stack.yaml"
    file.write_text("summary: mine\nextends: openblas\nframework: theano-1.0.5\n")
    order = Share(folder=str(tmp_path), at_once=1, jobs=(), files={str(file): "0" * 64})
    answer = job.run_share(own_workspace, str(file), order)
    assert answer.refused and answer.error and answer.error.found == str(file)


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
    assert (worker.custom_name if worker else None) == found


def test_something_else_that_listens_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with (
            pytest.raises(UsageError, match="no scheduler answers there"),
            connect.connected(address, lambda who, line: None),
        ):
            pass


class LostClient:
    """A client of dask whose scheduler goes away while it connects to it."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def subscribe_topic(self, *_: object) -> None:
        pass

    def scheduler_info(self) -> Any:
        raise RuntimeError("Cannot change state of expiring Timeout")

    def close(self, timeout: float) -> None:
        raise RuntimeError("Cannot change state of expiring Timeout")


def test_a_scheduler_that_goes_away_during_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def version_at(address: str) -> str:
        return version("distributed")

    monkeypatch.setattr(connect, "_version_at", version_at)
    monkeypatch.setattr("distributed.Client", LostClient)
    with (
        pytest.raises(connect.ClusterError, match="the scheduler went away"),
        connect.connected("tcp://here:1", lambda name, line: None) as cluster,
    ):
        cluster.workers()


NEAR, FAR = "tcp://127.0.0.1:8786", "tcp://192.0.2.1:8786"
DASHBOARD = ("--dashboard-address", "127.0.0.1:8787")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Give the options of TLS, with files that exist."""
    words = []
    for name in ("ca-file", "cert", "key"):
        (tmp_path / name).touch()
        words += [f"--tls-{name}", str(tmp_path / name)]
    return words


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9:80", True),
        ("localhost:8786", True),
        ("tls://127.0.0.1:1", True),
        ("::1", True),
        ("[::1]:80", True),
        ("tcp://[::1]:80", True),
        ("", False),
        (":8787", False),
        ("tcp://:8786", False),
        ("0.0.0.0", False),
        ("::", False),
        (FAR, False),
        ("127.0.0.1.invalid", False),
        ("127.0.0.1:no-port", False),
    ],
)
def test_which_addresses_only_this_machine_reaches(address: str, near: bool) -> None:
    assert programs.is_loopback(address) is near


def test_a_scheduler_and_its_worker_listen_on_loopback() -> None:
    expected = programs.Listening(("--host", "127.0.0.1", *DASHBOARD), {})
    assert programs.of_scheduler([]) == expected
    assert programs.of_scheduler(["--port", "9000", "--no-dashboard"]) == expected
    words = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
    assert programs.of_worker(NEAR, []) == programs.Listening(words, {})
    assert programs.of_scheduler(["--interface", "lo"]).words == DASHBOARD


EXPOSED = [
    ["--host", "0.0.0.0"],
    ["--host=0.0.0.0"],
    ["--host", "127.0.0.1", "--host", "192.0.2.1:80"],
    ["--host", "tcp://:8786"],
    ["--interface", "eth0"],
    ["--interface", "lo,eth0"],
    ["--dashboard-address", ":8787"],
    ["--dashboard-address", "8787"],
]


@pytest.mark.parametrize("options", EXPOSED)
def test_an_address_that_others_reach_needs_tls_or_the_option(options: list[str]) -> None:
    with pytest.raises(UsageError, match="could run programs here") as caught:
        programs.of_scheduler(options)
    assert caught.value.fix and "--insecure-address" in caught.value.fix
    with pytest.raises(UsageError, match="could run programs here"):
        programs.of_worker(NEAR, options)
    assert programs.of_scheduler(options, insecure=True).variables == {}


@pytest.mark.parametrize("address", [FAR, "192.0.2.1:8786", "wss://192.0.2.1:1"])
def test_a_worker_of_a_scheduler_elsewhere_needs_tls_or_the_option(
    address: str, files: list[str]
) -> None:
    for options in ([], files, ["--listen-address", "tcp://0.0.0.0:9"]):
        with pytest.raises(UsageError, match="could run programs here"):
            programs.of_worker(address, options)
    words = ("--dashboard-address", "127.0.0.1:0")
    assert programs.of_worker(address, [], insecure=True) == programs.Listening(words, {})


def test_with_certificates_dask_itself_refuses_what_is_not_encrypted(files: list[str]) -> None:
    for host in ("0.0.0.0", "tls://192.0.2.1:8786"):
        listening = programs.of_scheduler(["--host", host, *files])
        assert listening == programs.Listening(DASHBOARD, programs.ENCRYPTED)
    assert programs.of_scheduler(files).variables == programs.ENCRYPTED
    assert programs.of_worker("tls://192.0.2.1:1", files).variables == programs.ENCRYPTED
    for options in (["--protocol", "tcp"], ["--host", "tcp://0.0.0.0"]):
        with pytest.raises(UsageError, match="could run programs here"):
            programs.of_scheduler(["--host", "0.0.0.0", *files, *options])
    # Without a CA, any certificate of a public one would do.
    with pytest.raises(UsageError, match="could run programs here"):
        programs.of_scheduler(["--host", "0.0.0.0", *files[2:]])


def test_certificates_in_dasks_configuration(files: list[str]) -> None:
    tls = "distributed.comm.tls"
    names = {f"{tls}.ca-file": files[1], f"{tls}.scheduler.cert": files[3]}
    with dask.config.set(names):
        listening = programs.of_scheduler(["--host", "0.0.0.0"])
        assert listening.variables == programs.ENCRYPTED
        assert programs.of_scheduler([]).variables == {}


def test_an_option_that_dask_refuses(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"dask scheduler: .*'--tls-cert'.*does not exist"):
        programs.of_scheduler(["--tls-cert", str(tmp_path / "none")])
