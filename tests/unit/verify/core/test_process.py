"""Programs with a time limit; C code that the suite compiles for itself."""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from integration.programs import called

from stacks.core.disk import REPOSITORY
from verify.core import c_code, process

BOTH_STREAMS = "import sys; print('out', flush=True); sys.stderr.write('err'); sys.exit(3)"
SILENT = "import time; print('first', flush=True); time.sleep(60)"
SLOW_LINES = "import time\nfor n in range(4): print(n, flush=True); time.sleep(0.2)"


def python(code: str, tmp_path: Path, how: str, seconds: float) -> tuple[object, list[str]]:
    """Run code by one of the three ways; return the Done and the lines that were passed on."""
    lines: list[str] = []
    words = [sys.executable, "-c", code]
    if how == "call":
        return process.call(words, seconds), lines
    if how == "beside":
        return process.Started(words, str(tmp_path / "output")).finish(seconds), lines
    return process.follow(words, seconds, None, lines.append), lines


@pytest.mark.parametrize("how", ["call", "beside", "follow"])
def test_a_program_has_its_status_and_both_streams_and_is_killed_at_its_limit(
    how: str, tmp_path: Path
) -> None:
    done, lines = python(BOTH_STREAMS, tmp_path, how, 60)
    output = "out\nerr"
    assert (done, "".join(lines)) == ((3, "", False), output) or done == (3, output, False)
    done, lines = python(SILENT, tmp_path, how, 1)
    assert (done, lines) in (((-9, "", True), ["first\n"]), ((-9, "first\n", True), []))


LINKER = "collect2: error: ld returned 1"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo noise; echo 'verify-result [\"a\", 1]'; echo more", None),
        (f"echo cannot find -lm; echo {LINKER!r}; exit 1", "cannot find -lm"),
        ("exit 1", "it printed nothing"),
        ("exec tail -f /dev/null", "it did not end within 1 s"),
    ],
)
def test_what_a_program_was_started_for(script: str, reason: str | None, tmp_path: Path) -> None:
    started = process.Started(["sh", "-c", script], str(tmp_path / "output"))
    if reason:
        with pytest.raises(process.NoAnswerError) as caught:
            started.answer(1 if "tail" in script else 60)
        assert str(caught.value) == reason
    else:
        assert started.answer(60) == ["a", 1]


def test_each_line_restarts_the_limit_and_an_error_of_the_caller_kills_the_program() -> None:
    lines: list[str] = []
    done = process.follow([sys.executable, "-c", SLOW_LINES], 2, None, lines.append)
    assert (done, lines) == ((0, "", False), ["0\n", "1\n", "2\n", "3\n"])

    def fail(line: str) -> None:
        raise ValueError(line)

    with pytest.raises(ValueError, match="first"):
        process.follow([sys.executable, "-c", SILENT], 60, None, fail)


@pytest.mark.parametrize("function", ["call(words, 600)", "follow(words, 600, None, print)"])
def test_a_program_ends_with_a_killed_parent(function: str, tmp_path: Path) -> None:
    code = "import sys; sys.path[:0] = sys.argv[1:]\nfrom verify.core import process\n"
    code += "words = ['sh', '-c', 'exec >pipe; echo started; exec sleep 60']\nprocess." + function
    os.mkfifo(tmp_path / "pipe")
    root = process.SUITE.rpartition("/")[0]
    with (
        subprocess.Popen([sys.executable, "-c", code, root], cwd=tmp_path) as parent,
        (tmp_path / "pipe").open() as pipe,
    ):
        assert pipe.readline() == "started\n"
        parent.kill()
        # It has the pipe's writing end until it ends.
        assert select.select([pipe], [], [], 10)[0]
        assert pipe.read() == ""


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        ("", "the framework has no C++ compiler"),
        ("no-such-compiler -O2", "no-such-compiler: No such file or directory"),
        ("false", "the compiler failed"),
        ("sh -c 'echo first; echo last; false'", "last"),
    ],
)
def test_the_reason_why_it_cannot_be_compiled(compiler: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(c_code.NoCompilerError) as caught:
        c_code.load(compiler, ("verify.blas", "peak.c"), str(tmp_path))
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("-lm -Wl,-rpath,'/a folder'", None),
        ("-lm -lnothere", "cannot find -lnothere"),
        ("-L. -lnothere", "cannot find -lnothere"),
        ("-L'/x -lm", "No closing quotation"),
    ],
)
def test_what_the_linker_says_of_flags(flags: str, message: str | None, tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    found = c_code.link("g++", flags, str(tmp_path))
    assert found == message or (message and message in found)


INTERRUPTED = """
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    process.{}
except KeyboardInterrupt:
    print("interrupted")
"""
FORKED = "pid = process.in_child(lambda: {})\nprint(os.waitpid(pid, 0)[1] >> 8)"
# Threads cannot have their stacks.
LITTLE_MEMORY = """
import resource
size = 4096 * int(open("/proc/self/statm").read().split()[0]) + (4 << 20)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
words = ["sh", "-c", "echo 1; exec tail -f /dev/null"]
process.follow(words, 1, None, print)
done = process.call(words, 1), process.Started(words, os.devnull).finish(1)
print(all(each.timed_out for each in done))
"""
CHILDREN = """
process.adopt_orphans()
first = subprocess.Popen(["sleep", "60"])
kept = process.children()
subprocess.call(["sh", "-c", "(sleep 60 & sleep 60) & true"])
process.end_children(but=kept)
print(process.children() == kept == {first.pid})
first.kill()
"""


@pytest.mark.parametrize(
    ("code", "status", "last"),
    [
        # Its parent has ended already.
        ("process.end_with_parent(parent=1); print('alive')", -9, ""),
        (LITTLE_MEMORY, 0, "True"),
        # Children are ended, but those named.
        (CHILDREN, 0, "True"),
        # An interrupt within a fork is not lost.
        (INTERRUPTED.format("Started([sys.executable, '-c', ''], os.devnull)"), 0, "interrupted"),
        (INTERRUPTED.format("in_child(int)"), 0, "interrupted"),
        # A forked process ends with its function.
        *((FORKED.format("print('child')"), 0, "0"), (FORKED.format("1 / 0"), 0, "1")),
        (FORKED.format("sys.exit(7)"), 0, "1"),
    ],
)
def test_what_becomes_of_processes(code: str, status: int, last: str) -> None:
    head = "import os, signal, subprocess, sys\nfrom verify.core import process\n"
    done = called([sys.executable, "-uc", head + code], cwd=REPOSITORY, timeout=30)
    assert (done.returncode, done.stdout.split()[-1:], done.stderr) == (status, last.split(), "")
