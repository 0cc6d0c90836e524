"""Workers and what they are sent: programs, orders, answers, files, addresses."""

import os
import select
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import dask.config
import pytest
from distributed.cli import dask_scheduler, dask_worker

from stacks.bench.schedule import BenchOptions
from stacks.cluster import job, messages, programs
from stacks.cluster.job import run_supervised
from stacks.cluster.messages import Answer, Order, Outcome, RemoteError, Share
from stacks.core.errors import StaleError, UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace, revision
from stacks.environments.make import build
from stacks.environments.use.jobs import jobs_of
from stacks.variants.load import load_variant
from unit.helpers.benching import BASE, result, runs

VARIANT = "theano-1.0.5/openblas"
HERE = {"stacks/a.py": "1", "envs/b": "2"}
ORDER = Order(commit="c" * 40, files=HERE, variants=(VARIANT,))


def test_an_order_and_its_answer_travel_whole() -> None:
    timing = BenchOptions(workload="gemm", rounds=5, threads="1-2", quick=True)
    order = ORDER.model_copy(update={"timing": timing})
    assert Order.model_validate_json(order.model_dump_json()) == order
    error = RemoteError.of(UsageError("no such thing", expected=1, fix="do this"))
    outcome = Outcome(variant="f/v", status="failed", error=error, report={"ok": False})
    answer = Answer(worker="a-1", outcomes=(outcome,), result=result(runs(BASE, [1.0] * 5), BASE))
    assert Answer.read(answer.model_dump_json(by_alias=True)) == answer
    broken = Answer.read('{"outcomes": 3}').error
    assert broken and broken.what == "its answer cannot be read"
    [back] = answer.errors
    assert str(back) == "a-1: no such thing\n  expected: 1\n  fix:      do this"


def test_what_decides_is_read(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "stacks/__pycache__").mkdir(parents=True)
    for name in ("stacks/__pycache__/a.pyc", "stacks/a.pyc"):
        (tmp_path / name).touch()
    (tmp_path / "stacks/.ruff_cache").mkdir()
    (tmp_path / "stacks/.ruff_cache/CACHEDIR.TAG").touch()
    (tmp_path / "stacks/a.py").write_text("a")
    (tmp_path / "requirements.lock").write_text("b")
    (tmp_path / "README.md").write_text("nothing follows from it")
    assert sorted(messages.digests(replace(workspace, root=tmp_path))) == [
        "requirements.lock",
        "stacks/a.py",
    ]


def test_another_checkout_is_refused_with_the_files_that_differ() -> None:
    messages.check(ORDER, HERE, None)
    with pytest.raises(StaleError, match="the worker's checkout differs") as caught:
        messages.check(ORDER, {**HERE, "envs/b": "3", "envs/c": "4"}, "d" * 40)
    assert caught.value.expected == f"commit {'c' * 40} without changes"
    assert caught.value.found == f"commit {'d' * 40} with 2 different files: envs/b, envs/c"
    assert "check out the same commit" in str(caught.value.fix)


def test_a_machine_without_the_folder_or_with_another_stack_refuses(
    own_workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text("summary: mine\nextends: openblas\nframework: theano-1.0.5\n")
    missing = Share(folder=str(tmp_path / "missing"), at_once=1, jobs=())
    order = Order.of(own_workspace, [load_variant(own_workspace, str(file))], share=missing)
    assert order.variants == (str(file),) and order.commit == revision()[0]
    answer = job.run_order(own_workspace, order)
    assert answer.refused and answer.error and "missing is not on this machine" in answer.error.what
    file.write_text(file.read_text() + "\n")
    answer = job.run_order(own_workspace, order)
    assert answer.refused and answer.error and answer.error.found == str(file)
    assert answer.error.fix == "share its folder, or copy it there"


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
    share = Share(folder=str(folder), at_once=2, jobs=tuple(jobs))
    answer = Answer(runs=job.run_share(own_workspace, load_variant(own_workspace, VARIANT), share))
    # As it is sent.
    answer = Answer.read(answer.model_dump_json(by_alias=True))
    assert {run.job: (run.status, run.log) for run in answer.runs} == {
        1: (2, b"... 2 bytes left out\n34567\n"),
        2: (2, "é\n".encode()),
    }


def test_a_worker_has_one_thread_and_a_label(tmp_path: Path) -> None:
    words = programs.worker_command("tcp://s:1", "big", ["--interface", "ib0"])
    assert words[:4] == ["distributed.cli.dask_worker", "tcp://s:1", "--nthreads", "1"]
    assert words[words.index("--resources") + 1] == "theano-stacks-machine-big=1"
    assert words[-3:] == ["--interface", "ib0", "--no-nanny"]
    boot = tmp_path / "boot_id"
    boot.write_text("1b-2c\n")
    assert programs.machine_label("", boot) == "theano-stacks-boot-1b-2c"
    host = f"theano-stacks-boot-{socket.gethostname()}"
    assert programs.machine_label("", tmp_path / "none") == host
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


NEAR, FAR = "tcp://127.0.0.1:8786", "tcp://192.0.2.1:8786"
DASHBOARD = ["--dashboard-address", "127.0.0.1:8787"]
OF_WORKER = ["--dashboard-address", "127.0.0.1:0"]
HOST = ["--host", "127.0.0.1"]
ANYWHERE = ["--host", "0.0.0.0"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Give the options of TLS, with files that exist."""
    words = []
    for name in ("ca-file", "cert", "key"):
        (tmp_path / name).touch()
        words += [f"--tls-{name}", str(tmp_path / name)]
    return words


@pytest.mark.parametrize(
    ("near", "addresses"),
    [
        (True, "127.0.0.1 127.9.9.9:80 localhost:8786 tls://127.0.0.1:1"),
        (True, "::1 [::1]:80 tcp://[::1]:80"),
        (False, f":8787 tcp://:8786 0.0.0.0 :: {FAR} 127.0.0.1.invalid 127.0.0.1:no-port"),
    ],
)
def test_which_addresses_only_this_machine_reaches(near: bool, addresses: str) -> None:
    assert [programs.is_loopback(one) for one in addresses.split()] == [near] * len(
        addresses.split()
    )
    assert not programs.is_loopback("")


def of_scheduler(*options: str, insecure: bool = False) -> tuple[list[str], dict[str, str]]:
    return programs.listening(dask_scheduler.main, options, insecure=insecure)


def of_worker(
    address: str, *options: str, insecure: bool = False
) -> tuple[list[str], dict[str, str]]:
    return programs.listening(dask_worker.main, options, address, insecure=insecure)


def test_a_scheduler_and_its_worker_listen_on_loopback() -> None:
    assert of_scheduler() == ([*HOST, *DASHBOARD], {})
    assert of_scheduler("--port", "9000", "--no-dashboard") == ([*HOST, *DASHBOARD], {})
    assert of_scheduler("--interface", "lo") == (DASHBOARD, {})
    assert of_worker(NEAR) == ([*HOST, *OF_WORKER], {})


@pytest.mark.parametrize(
    "options",
    [
        "--host 0.0.0.0",
        "--host=0.0.0.0",
        "--host 127.0.0.1 --host 192.0.2.1:80",
        "--host tcp://:8786",
        "--interface eth0",
        "--interface lo,eth0",
        "--dashboard-address :8787",
        "--dashboard-address 8787",
    ],
)
def test_an_address_that_others_reach_needs_tls_or_the_option(options: str) -> None:
    words = options.split()
    with pytest.raises(UsageError, match="could run programs here") as caught:
        of_scheduler(*words)
    assert caught.value.fix and "--insecure-address" in caught.value.fix
    with pytest.raises(UsageError, match="could run programs here"):
        of_worker(NEAR, *words)
    assert of_scheduler(*words, insecure=True)[1] == {}


@pytest.mark.parametrize("address", [FAR, "192.0.2.1:8786", "wss://192.0.2.1:1"])
def test_a_worker_of_a_scheduler_elsewhere_needs_tls_or_the_option(
    address: str, files: list[str]
) -> None:
    for options in ([], files, ["--listen-address", "tcp://0.0.0.0:9"]):
        with pytest.raises(UsageError, match="could run programs here"):
            of_worker(address, *options)
    assert of_worker(address, insecure=True) == (OF_WORKER, {})


def test_with_certificates_dask_itself_refuses_what_is_not_encrypted(files: list[str]) -> None:
    for host in ("0.0.0.0", "tls://192.0.2.1:8786"):
        assert of_scheduler("--host", host, *files) == (DASHBOARD, programs.ENCRYPTED)
    assert of_scheduler(*files)[1] == programs.ENCRYPTED
    assert of_worker("tls://192.0.2.1:1", *files)[1] == programs.ENCRYPTED
    # Without a CA, any certificate of a public one would do.
    for options in ([*files, "--protocol", "tcp"], [*files, "--host", "tcp://0.0.0.0"], files[2:]):
        with pytest.raises(UsageError, match="could run programs here"):
            of_scheduler(*ANYWHERE, *options)
    tls = "distributed.comm.tls"
    with dask.config.set({f"{tls}.ca-file": files[1], f"{tls}.scheduler.cert": files[3]}):
        assert of_scheduler(*ANYWHERE)[1] == programs.ENCRYPTED
        assert of_scheduler()[1] == {}


def test_an_option_that_dask_refuses(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"dask scheduler: .*'--tls-cert'.*does not exist"):
        of_scheduler("--tls-cert", str(tmp_path / "none"))


def test_a_supervised_program() -> None:
    code = "import sys; print('told', file=sys.stderr); print(sys.stdin.readline()[::-1])"
    lines: list[str] = []
    words = [sys.executable, "-c", code]
    assert run_supervised(words, "abc", lines.append, lambda: True) == "\ncba\n"
    assert lines == ["told"]
    with pytest.raises(CommandError) as caught:
        run_supervised(
            [sys.executable, "-c", "raise SystemExit('because')"], "x", lines.append, lambda: True
        )
    assert caught.value.what.endswith("because") and caught.value.found == "exit status 1"
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        run_supervised(["no-such-program"], "", lines.append, lambda: True)


def test_a_cancelled_program_ends_with_its_children(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    code = (
        "import os, subprocess, sys; held = os.open(sys.argv[1], os.O_WRONLY);"
        "none = subprocess.DEVNULL;"
        "subprocess.Popen(['sleep', '100'], pass_fds=[held], stdout=none, stderr=none);"
        "print('started', file=sys.stderr, flush=True); sys.stdin.read()"
    )
    words, lines = [sys.executable, "-c", code, str(tmp_path / "pipe")], list[str]()
    assert run_supervised(words, "", lines.append, lambda: not lines) is None
    # The pipe ends with the last process that has it open.
    assert select.select([reader], [], [], 60)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)
