"""Build and bench over two machines, two workers of one scheduler here; where both listen."""

import datetime
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import distributed
import psutil
import pytest

from integration.machines import PATIENCE, Machines, address_of, kill, machines, start
from integration.programs import CPUINFO, invoke
from integration.registries import write_certificate
from integration.tiny import Tiny
from stacks.core.disk import REPOSITORY

BENCH = ("bench", "--variants", "by-conda", "--workload", "gemm", "--rounds", "5", "--threads", "1")


@pytest.fixture(scope="module")
def cluster(tiny_model: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tiny_model, tmp_path_factory.mktemp("cluster"), ("one", "two")) as found:
        yield found


def sessions(cluster: Machines) -> list[Path]:
    return list((cluster.client / "build/cluster").glob("session-*"))


def results(cluster: Machines, machine: str) -> list[Path]:
    return list((cluster.client / "results" / machine).glob("*.json"))


def test_bench_on_two_machines_replaces_a_lost_worker(cluster: Machines) -> None:
    one = cluster.machines["one"]
    one.hold.touch()
    command = cluster.ask(*BENCH)
    command.until(": begins the timing on one", "stored in results/two/")
    left = one.jobs()
    assert one.process and left
    one.process.kill()
    one.process.wait()
    # All processes of the killed worker end.
    assert psutil.wait_procs(left, PATIENCE)[1] == []
    one.hold.unlink()
    # As Slurm, Kubernetes or a person does.
    one.process = start(one, cluster.address)
    status, output = command.end()
    assert status == 0, output
    assert "was lost; the timing on one will run again" in output
    # What was finished is not repeated.
    assert output.count(": begins the timing on two") == 1
    assert output.count(": begins the timing on one") == 2
    [first], [second] = results(cluster, "one"), results(cluster, "two")
    for path, name in ((first, "one"), (second, "two")):
        result = json.loads(path.read_text())
        assert result["machine"]["name"] == name
        assert [run["round"] for run in result["runs"]] == [1, 2, 3, 4, 5]
    [cpu, *_] = re.findall(r"^model name\s*: (.*)$", CPUINFO, re.MULTILINE)
    assert f"one: {cpu}, " in output and f"two: {cpu}, " in output
    # Each line is after the name of its machine.
    assert re.search(r"^two-\d+: .", output, re.MULTILINE) and "\ntcp://" not in output
    assert sessions(cluster) == []


SWEEP = ("run", "--jobs", "2", "--variant", "by-conda")


def test_a_program_runs_over_arguments_on_two_machines(cluster: Machines, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, sys, six\n"
        "print(sys.argv[1], six.__version__, os.environ['OMP_NUM_THREADS'], os.getcwd())\n"
        "sys.exit(3 if sys.argv[1] == 'bad' else 0)\n"
    )
    words = ["python", "program.py", "rate={}", ":::", *"abcdefgh"]
    status, output = cluster.ask(*SWEEP, command=words, folder=tmp_path).end()
    assert status == 0, output
    assert "one-" in output and "two-" in output and "begins jobs 1 to 2" in output
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    for number, argument in enumerate("abcdefgh", 1):
        log = (tmp_path / f"job-logs/{number}.log").read_text()
        assert log == f"('rate={argument}', '1.16.0', '{share}', '{tmp_path}')\n"
        assert f"{number}: {argument}: done" in output
    # Again, with other arguments: the logs of before are gone.
    words = ["python", "program.py", ":::", "good", "bad"]
    status, output = cluster.ask(*SWEEP, command=words, folder=tmp_path).end()
    assert status == 1 and "1 of 2 jobs failed" in output
    assert "2: bad: failed with status 3" in output
    rows = (tmp_path / "job-logs/jobs.tsv").read_text().splitlines()
    assert sorted(row.split("\t")[1] for row in rows) == ["0", "3", "status"]
    assert not (tmp_path / "job-logs/3.log").exists()
    words = ["no-such-program", ":::", "1"]
    status, output = cluster.ask(*SWEEP, command=words, folder=tmp_path).end()
    assert status == 1 and "cannot run no-such-program" in output and "Traceback" not in output


def test_a_stack_of_ones_own_runs_on_two_machines(cluster: Machines, tmp_path: Path) -> None:
    folder = tmp_path / "my prøject"
    folder.mkdir()
    (folder / "stack.yaml").write_text("summary: mine\nextends: by-conda\nframework: tiny\n")
    asked = ("run", "--jobs", "1", "--variant", "stack.yaml")
    words = ["python", "-c", "import six; print(six.__version__)", ":::", "1", "2"]
    status, output = cluster.ask(*asked, command=words, folder=folder).end()
    assert status == 1 and "./invoke lock" in output, output
    lock = [*invoke(cluster.client), "lock", "--variant", "stack.yaml"]
    subprocess.run(lock, cwd=folder, check=True)
    status, output = cluster.ask(*asked, command=words, folder=folder).end()
    assert status == 0, output
    assert (folder / "job-logs/2.log").read_text() == "1.16.0\n"
    status, output = cluster.ask("build", "--variant", "stack.yaml", folder=folder).end()
    assert status == 0 and " passed" in output, output


def test_an_interrupted_sweep_ends_its_programs(cluster: Machines, tmp_path: Path) -> None:
    program = (
        "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(999)"
    )
    words = ["python", "-c", program, ":::", "x", "y"]
    asked = ("run", "--jobs", "1", "--variant", "by-conda")
    command = cluster.ask(*asked, command=words, folder=tmp_path)
    command.until("begins jobs 1 to 1", "begins jobs 2 to 2")
    files = [tmp_path / "x", tmp_path / "y"]
    until = time.monotonic() + PATIENCE
    while not all(file.exists() and file.read_text() for file in files):
        assert time.monotonic() < until
    running = [psutil.Process(int(file.read_text())) for file in files]
    command.interrupt()
    status, output = command.end()
    assert status == 130 and "Traceback" not in output, output
    assert psutil.wait_procs(running, PATIENCE)[1] == []


def test_the_scheduler_is_lost(cluster: Machines) -> None:
    for machine in cluster.machines.values():
        machine.hold.touch()
    command = cluster.ask("build", "--variant", "by-pip")
    # Which machine does it, and so whether its environment is there already, is the scheduler's.
    command.until("begins tiny/by-pip", "build/prefixes/tiny/by-pip")
    running = [job for machine in cluster.machines.values() for job in machine.jobs()]
    assert running
    cluster.scheduler.kill()
    status, output = command.end()
    assert status == 1 and "error: the scheduler went away" in output
    assert "Traceback" not in output
    assert psutil.wait_procs(running, PATIENCE)[1] == []


Start = Callable[..., psutil.Popen]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts `./invoke WORDS`; all that it started is killed."""
    with ExitStack() as stack:

        def launch(*words: str) -> psutil.Popen:
            with (tmp_path / f"log of {words[0]}").open("w") as out:
                process = psutil.Popen([*invoke(), *words], cwd=REPOSITORY, stdout=out, stderr=out)
            stack.callback(kill, process)
            return process

        yield launch


def listening(process: psutil.Popen) -> set[str]:
    """Return the addresses that a process and its children listen on."""
    return {
        connection.laddr.ip
        for each in (process, *process.children(recursive=True))
        for connection in each.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def certificates(folder: Path, name: str) -> tuple[list[str], distributed.Security]:
    """Make a certificate that is its own CA; return the options of dask's programs and clients."""
    pem = folder / name
    write_certificate(pem, datetime.datetime.now(datetime.timezone.utc), 1)
    words = [word for kind in ("ca-file", "cert", "key") for word in (f"--tls-{kind}", str(pem))]
    security = distributed.Security(
        tls_ca_file=str(pem),
        tls_client_cert=str(pem),
        tls_client_key=str(pem),
        require_encryption=True,
    )
    return words, security


@pytest.mark.parametrize("tls", [False, True])
def test_scheduler_and_worker_listen_on_loopback_or_answer_those_with_a_certificate(
    launch: Start, tmp_path: Path, tls: bool
) -> None:
    file, options = tmp_path / "scheduler.json", list[str]()
    arguments: dict[str, Any] = {}
    if tls:
        options, arguments["security"] = certificates(tmp_path, "ours.pem")
    words = ["--port", "0", "--scheduler-file", str(file), *options]
    words += ["--host", "0.0.0.0"] if tls else []
    scheduler = launch("scheduler", "--", *words)
    address = address_of(file, scheduler)
    if tls:
        address = f"tls://127.0.0.1:{address.rpartition(':')[2]}"
    assert address.startswith("tls://127.0.0.1:" if tls else "tcp://127.0.0.1:")
    # Another run of the tests may have a worker on this machine.
    name = ("--name", f"test-{os.getpid()}")
    worker = launch("worker", address, *name, *(["--", *options] if tls else []))
    with distributed.Client(address, timeout=PATIENCE, set_as_default=False, **arguments) as client:
        client.wait_for_workers(1, PATIENCE)
        assert client.submit(sum, [1, 2]).result(PATIENCE) == 3
        workers = client.scheduler_info()["workers"]
        assert all(one.startswith(address.partition("127")[0]) for one in workers)
    if not tls:
        assert listening(scheduler) == listening(worker) == {"127.0.0.1"}
        return
    assert "0.0.0.0" in listening(scheduler)
    others: dict[str, Any] = {"security": certificates(tmp_path, "other.pem")[1]}
    for url, arguments in ((address.replace("tls:", "tcp:"), {}), (address, others)):
        with pytest.raises(OSError, match=r"Timed out|Connection reset|does not match"):
            distributed.Client(url, timeout=2, **arguments)
