"""Build and bench over two machines, which are two workers of one scheduler here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from integration.machines import PATIENCE, Machines, kill, machines, start
from integration.tiny import Tiny

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
    assert one.process
    [worker] = {job.parent() for job in one.jobs() if "stacks.cluster.job" in job.cmdline()}
    left = one.jobs()
    assert worker and worker.pid != one.process.pid
    worker.kill()
    # All processes of the killed worker end.
    assert psutil.wait_procs(left, PATIENCE)[1] == []
    one.hold.unlink()
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
    assert "one: A tiny one, 2 cores" in output and "two: A tiny one, 2 cores" in output
    assert "how many times as fast as the baseline on the same machine" in output
    assert sessions(cluster) == []


def test_an_interrupted_bench_stops_everywhere_and_resumes(cluster: Machines) -> None:
    one = cluster.machines["one"]
    one.hold.touch()
    before = len(results(cluster, "two"))
    command = cluster.ask(*BENCH)
    command.until("one-", "stored in results/two/", "warming up")
    running = one.jobs()
    assert running
    command.interrupt()
    status, output = command.end()
    assert status == 130 and "interrupted; what was finished is kept" in output
    assert psutil.wait_procs(running, PATIENCE)[1] == []
    one.hold.unlink()
    status, output = cluster.ask(*BENCH).end()
    assert status == 0, output
    assert "already finished the timing on two" in output
    assert ": begins the timing on two" not in output
    assert len(results(cluster, "two")) == before + 1
    assert sessions(cluster) == []


def test_build_moves_variants_from_a_lost_worker(cluster: Machines) -> None:
    two = cluster.machines["two"]
    two.hold.touch()
    command = cluster.ask("build")
    command.until("one-", "two-", ": passed")
    assert two.process
    kill(two.process)
    two.hold.unlink()
    status, output = command.end()
    assert status == 0, output
    assert "was lost; tiny/by-" in output and output.count(": begins ") == 3
    reports = sorted((cluster.client / "build/cluster/reports/one").glob("*/*.json"))
    assert [path.stem for path in reports] == ["by-conda", "by-pip"]
    assert all(json.loads(path.read_text())["ok"] for path in reports)
    two.process = start(two, cluster.address)


def test_a_worker_with_another_checkout_is_refused(cluster: Machines) -> None:
    two = cluster.machines["two"]
    file = two.checkout / "stacks/locks/lock.py"
    before = file.read_text()
    file.write_text(before + "\n")
    try:
        status, output = cluster.ask(*BENCH).end()
    finally:
        file.write_text(before)
    assert status == 1
    assert "two-" in output and "the worker's checkout differs" in output
    assert "1 different file: stacks/locks/lock.py" in output
    assert "stored in results/one/" in output and "stored in results/two/" not in output


def test_a_variant_that_fails_is_left_out_of_the_timing(cluster: Machines) -> None:
    two = cluster.machines["two"]
    before = len(results(cluster, "two"))
    two.bad("by-conda").touch()
    words = list(BENCH)
    words[2] = "by-conda,by-pip"
    status, output = cluster.ask(*words).end()
    assert status == 1
    failure = "tiny/by-conda failed its verification\n  found:    fit: is it?\n  fix:      fit it\n"
    assert failure in output
    subjects = [
        [subject["flavour"] for subject in json.loads(path.read_text())["subjects"]]
        for name in ("one", "two")
        for path in sorted(results(cluster, name))[-1:]
    ]
    assert subjects == [["by-conda", "by-pip"], ["by-pip"]]
    assert len(results(cluster, "two")) == before + 1


def test_the_scheduler_is_lost(cluster: Machines) -> None:
    for machine in cluster.machines.values():
        machine.hold.touch()
    command = cluster.ask("build", "--variant", "by-pip")
    command.until("begins tiny/by-pip", "ready")
    running = [job for machine in cluster.machines.values() for job in machine.jobs()]
    assert running
    cluster.scheduler.kill()
    status, output = command.end()
    assert status == 1 and "error: the scheduler went away" in output
    assert "Traceback" not in output
    assert psutil.wait_procs(running, PATIENCE)[1] == []
