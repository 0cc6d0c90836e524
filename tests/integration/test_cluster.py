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


def test_each_machine_times_and_the_lost_worker_is_replaced(cluster: Machines) -> None:
    one = cluster.machines["one"]
    one.hold.touch()
    asking = cluster.ask(*BENCH)
    asking.until(": begins the timing on one", "kept in results/two/")
    assert one.process
    [worker] = {job.parent() for job in one.jobs() if "stacks.cluster.job" in job.cmdline()}
    left = one.jobs()
    assert worker and worker.pid != one.process.pid
    worker.kill()
    # Nothing of the killed worker's goes on.
    assert psutil.wait_procs(left, PATIENCE)[1] == []
    one.hold.unlink()
    status, said = asking.end()
    assert status == 0, said
    assert "was lost; the timing on one will be done again" in said
    # What was finished is not done again.
    assert said.count(": begins the timing on two") == 1
    assert said.count(": begins the timing on one") == 2
    [first], [second] = results(cluster, "one"), results(cluster, "two")
    for path, name in ((first, "one"), (second, "two")):
        result = json.loads(path.read_text())
        assert result["machine"]["name"] == name
        assert [run["round"] for run in result["runs"]] == [1, 2, 3, 4, 5]
    assert "one: A tiny one, 2 cores" in said and "two: A tiny one, 2 cores" in said
    assert "how many times as fast as the baseline on the same machine" in said
    assert sessions(cluster) == []


def test_what_was_interrupted_stops_everywhere_and_is_taken_up(cluster: Machines) -> None:
    one = cluster.machines["one"]
    one.hold.touch()
    before = len(results(cluster, "two"))
    asking = cluster.ask(*BENCH)
    asking.until("one-", "kept in results/two/", "warming up")
    running = one.jobs()
    assert running
    asking.interrupt()
    status, said = asking.end()
    assert status == 130 and "interrupted; what was finished is kept" in said
    assert psutil.wait_procs(running, PATIENCE)[1] == []
    one.hold.unlink()
    status, said = cluster.ask(*BENCH).end()
    assert status == 0, said
    assert "has finished the timing on two before" in said
    assert ": begins the timing on two" not in said
    assert len(results(cluster, "two")) == before + 1
    assert sessions(cluster) == []


def test_variants_are_built_where_there_is_room(cluster: Machines) -> None:
    two = cluster.machines["two"]
    two.hold.touch()
    asking = cluster.ask("build")
    asking.until("one-", "two-", ": passed")
    assert two.process
    kill(two.process)
    two.hold.unlink()
    status, said = asking.end()
    assert status == 0, said
    assert "was lost; tiny/by-" in said and said.count(": begins ") == 3
    reports = sorted((cluster.client / "build/cluster/reports/one").glob("*/*.json"))
    assert [path.stem for path in reports] == ["by-conda", "by-pip"]
    assert all(json.loads(path.read_text())["ok"] for path in reports)
    two.process = start(two, cluster.address)


def test_a_worker_of_another_checkout_is_left_out(cluster: Machines) -> None:
    two = cluster.machines["two"]
    file = two.checkout / "stacks/locks/lock.py"
    before = file.read_text()
    file.write_text(before + "\n")
    try:
        status, said = cluster.ask(*BENCH).end()
    finally:
        file.write_text(before)
    assert status == 1
    assert "two-" in said and "this worker's checkout is another one" in said
    assert "1 file with other bytes: stacks/locks/lock.py" in said
    assert "kept in results/one/" in said and "kept in results/two/" not in said


def test_a_variant_that_fails_is_not_timed_and_the_others_are(cluster: Machines) -> None:
    two = cluster.machines["two"]
    before = len(results(cluster, "two"))
    two.bad("by-conda").touch()
    words = list(BENCH)
    words[2] = "by-conda,by-pip"
    status, said = cluster.ask(*words).end()
    assert status == 1
    told = "tiny/by-conda failed its verification\n  found:    fit: is it?\n  fix:      fit it\n"
    assert told in said
    subjects = [
        [subject["flavour"] for subject in json.loads(path.read_text())["subjects"]]
        for name in ("one", "two")
        for path in sorted(results(cluster, name))[-1:]
    ]
    assert subjects == [["by-conda", "by-pip"], ["by-pip"]]
    assert len(results(cluster, "two")) == before + 1


def test_a_scheduler_that_goes_away(cluster: Machines) -> None:
    for machine in cluster.machines.values():
        machine.hold.touch()
    asking = cluster.ask("build", "--variant", "by-pip")
    asking.until("begins tiny/by-pip", "ready")
    running = [job for machine in cluster.machines.values() for job in machine.jobs()]
    assert running
    cluster.scheduler.kill()
    status, said = asking.end()
    assert status == 1 and "error: the scheduler went away" in said
    assert "Traceback" not in said
    assert psutil.wait_procs(running, PATIENCE)[1] == []
