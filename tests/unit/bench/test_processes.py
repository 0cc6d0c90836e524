"""Programs that answer line by line and busy loops; the machine of a result, and its noise."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from stacks.bench import result, rounds
from stacks.bench.processes import NoAnswerError, SuspendedProcess, processor_seconds
from stacks.bench.rounds import busy_loops
from stacks.core.disk import REPOSITORY
from stacks.core.process import CommandError
from unit.helpers.benching import QUIET
from unit.helpers.processes import read_line, started
from verify.core import machine as suite_machine

# Answers with its process number and what it was asked; does as it is told.
PROGRAM = """
import json, os, sys, time
def say(**what):
    sys.stdout.write(json.dumps(what) + "\\n"); sys.stdout.flush()
# The system counts a process's time in ticks, of which a short start may take none.
while time.process_time() < 0.05: pass
say(pid=os.getpid())
for line in iter(sys.stdin.readline, ""):
    asked = json.loads(line)
    if asked.get("do") == "hang": time.sleep(600)
    if asked.get("do") == "mumble": sys.stdout.write("4 of 5\\n"); sys.stdout.flush(); continue
    if asked.get("do") == "fail": sys.exit("no memory left")
    if asked.get("do") == "die": os.kill(os.getpid(), 9)
    say(pid=os.getpid(), asked=asked)
"""
# Computes in a child, answers when that has ended, and waits.
PARENT = """
import os, time
if not os.fork():
    while time.process_time() < 0.2: pass
    os._exit(0)
os.wait()
print("{}", flush=True)
input()
"""
# Prints the process IDs of two loops, and waits.
LOOPS = """
from stacks.bench.rounds import busy_loops
with busy_loops(2) as loops:
    print(*loops, flush=True)
    input()
"""
# Starts a worker that asks to end with its parent, prints its process ID, and waits.
WORKER = """
import os, sys
from stacks.bench.processes import SuspendedProcess
code = "import sys; sys.path.insert(0, sys.argv[1])\\n" \\
    "from verify.core import process; process.end_with_parent()\\n" \\
    "import json, os; print(json.dumps({'pid': os.getpid()})); sys.stdout.flush(); input()"
worker = SuspendedProcess([sys.executable, "-c", code, sys.argv[1]], os.environ, 30.0)
print(worker.answer()["pid"], flush=True)
input()
"""


@contextmanager
def opened(code: str, limit: float = 30.0) -> Iterator[SuspendedProcess]:
    staying = SuspendedProcess([sys.executable, "-c", code], os.environ, limit)
    try:
        yield staying
    finally:
        staying.kill()


@pytest.fixture
def program() -> Iterator[SuspendedProcess]:
    with opened(PROGRAM) as staying:
        yield staying


def state(pid: int) -> str:
    """Return the letter of a process's state, nothing where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def is_stopped(pid: int) -> bool:
    # The signal takes effect when the process next gets a processor.
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
    return state(pid) == "T"


def test_it_answers_is_stopped_after_each_answer_and_killed_is_gone(
    program: SuspendedProcess,
) -> None:
    pid = program.answer()["pid"]
    assert is_stopped(pid)
    assert program.ask(calls=3) == {"pid": pid, "asked": {"calls": 3}}
    assert is_stopped(pid)
    assert 0 < program.processor_seconds() < 30
    program.kill()
    assert state(pid) == "" and processor_seconds(pid) == 0


def test_what_it_leaves_of_temporary_files_when_it_is_killed_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code = "import tempfile; tempfile.mkstemp(); print({}, flush=True); input()"
    with opened(code) as program:
        program.answer()
        [folder] = tmp_path.iterdir()
        assert len([*folder.iterdir()]) == 2
    assert not [*tmp_path.iterdir()]


def test_what_its_ended_children_computed_is_its_time() -> None:
    with opened(PARENT) as parent:
        parent.answer()
        assert parent.processor_seconds() > 0.15


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("fail", r"(?s)no memory left.*found:    it ended with exit status 1"),
        ("die", "it was killed by SIGKILL"),
        ("mumble", r"(?s)cannot be read.*4 of 5"),
    ],
)
def test_what_is_no_answer(program: SuspendedProcess, asked: str, message: str) -> None:
    program.answer()
    with pytest.raises(CommandError, match=message):
        program.ask(do=asked)


def test_it_that_hangs_is_given_up() -> None:
    late = pytest.raises(NoAnswerError, match=r"(?s)an answer within 0.2 s.*--limit")
    with opened("input()", 0.2) as program, late:
        program.answer()


def test_the_loops_are_busy_on_any_processor_and_gone_in_the_end() -> None:
    usable = os.sched_getaffinity(0)
    with pytest.raises(ZeroDivisionError), busy_loops(2) as pids:
        assert len(set(pids)) == 2
        assert all(os.sched_getaffinity(pid) == usable for pid in pids)
        before = processor_seconds(pids[0])
        while processor_seconds(pids[0]) == before:
            pass
        raise ZeroDivisionError
    assert not any(map(state, pids))
    with busy_loops(0) as pids:
        assert pids == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("code", [WORKER, LOOPS], ids=["worker", "loops"])
def test_no_process_outlives_the_bench(code: str, number: signal.Signals) -> None:
    with started(code, REPOSITORY) as owner:
        pids = [int(word) for word in read_line(owner).split()]
        gone = [os.pidfd_open(pid) for pid in pids]
        # Python notices one that comes just before it begins to read only when the next one comes.
        while owner.poll() is None:
            owner.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                owner.wait(5)
    for pid, descriptor in zip(pids, gone, strict=True):
        # Readable when the process is gone.
        assert select.select([descriptor], [], [], 30.0)[0], f"{pid} is still there"
        os.close(descriptor)


def test_second_threads_of_cores_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    for number, siblings in enumerate(["0-1", "0-1", "2-3", "2-3"]):
        folder = tmp_path / f"cpu{number}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    assert rounds.processors(2, tmp_path) == [0, 2]
    assert rounds.processors(4, tmp_path) == [0, 2, 1, 3]
    assert rounds.processors(3, tmp_path / "none") == [0, 1, 2]


def test_a_run_whose_processors_the_system_refuses_is_not_pinned() -> None:
    before = os.sched_getaffinity(0)
    with rounds.pinned_to([100000]) as is_pinned:
        assert not is_pinned
    assert os.sched_getaffinity(0) == before


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give the files of the system by which a machine is described."""
    text = "cpu family\t: 6\nmodel\t\t: 79\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"
    text += "\nvendor_id\t: GenuineIntel\nstepping\t: 1\nmicrocode\t: 0xb\n"
    files = {"/proc/cpuinfo": text}
    monkeypatch.setattr(suite_machine, "read_text", lambda path: files.get(path, ""))
    monkeypatch.setattr(suite_machine, "CORES", set(range(4)))
    return files


def test_a_machine_is_described_with_the_peaks_of_its_reports(files: dict[str, str]) -> None:
    peaks = [[{"dtype": "float64", "threads": 1, "gflops": rate}] for rate in (50.0, 55.0)]
    found = result.describe_machine([{"machine": {"peak": peak}} for peak in peaks])
    assert found.name == "intel-xeon-e5-2680-v4-4-cores"
    assert (found.model, found.microcode, found.vendor) == ("6 79 1", "0xb", "GenuineIntel")
    assert [peak.gflops for peak in found.peak] == [55.0]
    others: list[dict[str, object]] = [
        {},
        {"cores": 3},
        {"cores": 7},
        {"cores": 2},
        {"cores": 8},
        {"model": "6 80 1"},
    ]
    speaks = [found.speaks_for(found.model_copy(update=more)) for more in others]
    assert speaks == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("limit", "more", "is_here"),
    [
        ("", {}, True),
        ("", {"cpu": "There"}, False),
        ("", {"cores": 999}, False),
        ("", {"kernel": "1.0"}, False),
        # Made under a container's limit.
        ("150000 100000", {"cores": 2}, True),
        ("150000 100000", {"cores": 4}, False),
    ],
)
def test_a_report_of_another_machine_does_not_count_here(
    files: dict[str, str], limit: str, more: dict[str, object], is_here: bool
) -> None:
    files["/sys/fs/cgroup/cpu.max"] = limit
    assert result.is_here({"machine": {**suite_machine.describe({}), **more}}) == is_here


def test_each_kind_of_noise_is_a_remark() -> None:
    assert result.noise_remarks([QUIET, QUIET]) == []
    loud = QUIET.model_copy(
        update={"others": 1.5, "steal": 0.2, "throttled": 2.0, "frequency": 2000.0}
    )
    assert result.noise_remarks([QUIET, loud]) == [
        "other programs were busy in 1 of 2 measurements, on up to 1.5 cores",
        "the host took processor time away in 1 of 2 measurements, up to 20%",
        "the container's CPU limit stopped it for 2.0 s",
        "the cores' clock went from 2000 to 3000 MHz",
    ]
