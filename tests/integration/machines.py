"""A scheduler and workers on this machine, each in a checkout of its own with a tiny framework.

The suite and the bench's probe are stand-ins there, which take no time and can be held up; all
else is what it is everywhere.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from integration.programs import invoke
from integration.tiny import Tiny
from stacks.cluster.programs import MODULE, worker_command

PATIENCE = 60.0

SUITE = """\
import json, os, platform, sys, time

sys.dont_write_bytecode = True
if sys.argv[1] == "bench-probe":
    import bench_probe
    sys.exit()
if sys.argv[1] == "files":
    sys.exit()
while os.path.exists(os.environ.get("HOLD", "")):
    time.sleep(0.05)
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with open(given["--expect"]) as file:
    expected = json.load(file)

def value(file, name):
    with open(file) as lines:
        return [line.partition(":")[2].strip() for line in lines if line.startswith(name)][0]

# The bench takes no report of another machine.
machine = {
    "cpu": value("/proc/cpuinfo", "model name"), "vendor": "None", "memory": 1, "glibc": "2.31",
    "cores": bin(int(value("/proc/self/status", "Cpus_allowed:").replace(",", ""), 16)).count("1"),
    "kernel": platform.release(), "peak": [],
}
report = {
    "ok": True, "variant": expected["variant"], "packages": expected["packages"],
    "machine": machine, "timings": [],
    "checks": [{"name": "small", "status": "pass", "detail": "it is", "fix": None}],
}
with open(given["--json"], "w") as file:
    json.dump(report, file)
"""
PROBE = """\
from __future__ import print_function
import json, os, sys, time

assert "PYTHONHASHSEED" not in os.environ and "PYTHONPATH" not in os.environ
# The bench sets the threads' own; this one would be a nanny's.
assert "MALLOC_TRIM_THRESHOLD_" not in os.environ
while os.path.exists(os.environ.get("HOLD", "")):
    time.sleep(0.05)
print(json.dumps({"ready": []}))
sys.stdout.flush()
for _ in iter(sys.stdin.readline, ""):
    series = [{"name": "Gemm", "unit": "GFLOP/s", "samples": [1.0, 2.0]}]
    print(json.dumps({"series": series}))
    sys.stdout.flush()
"""


def checkout(tiny: Tiny, folder: Path) -> Path:
    """Make a checkout whose only framework is the tiny one, with stand-ins for the programs."""
    tiny.copy_checkout(folder)
    (folder / "verify/__main__.py").write_text(SUITE)
    (folder / "verify/bench_probe.py").write_text(PROBE)
    return folder


@dataclass
class Machine:
    """A checkout, and a worker that runs in it."""

    name: str
    checkout: Path
    process: psutil.Popen | None = None

    @property
    def hold(self) -> Path:
        """A file: while it exists, the stand-ins of this machine keep running."""
        return self.checkout.with_suffix(".hold")

    def jobs(self) -> list[psutil.Process]:
        """Return the processes that do an order here, with all that they have started."""
        assert self.process
        return self.process.children(recursive=True)


@dataclass
class Machines:
    """A scheduler, its workers, and the checkout whose `./invoke` uses them."""

    address: str
    scheduler: psutil.Popen
    client: Path
    machines: dict[str, Machine] = field(default_factory=dict)

    def ask(self, *words: str, command: Sequence[str] = (), folder: Path | None = None) -> Asking:
        """Start an `./invoke` of the client's checkout, there or in another folder."""
        after = ["--", *command] if command else []
        return Asking(
            subprocess.Popen(
                [*invoke(self.client), *words, "--cluster", self.address, *after],
                cwd=folder or self.client,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )


class Asking:
    """An `./invoke` that runs; what it prints is read line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        # A test that would wait for ever fails instead.
        self._watch = threading.Timer(PATIENCE, process.kill)
        self._watch.daemon = True
        self._watch.start()

    def until(self, *texts: str) -> None:
        """Read until there has been a line with each of the texts."""
        assert self.process.stdout
        missing = [text for text in texts if not any(text in line for line in self.lines)]
        while missing:
            line = self.process.stdout.readline()
            assert line, f"{missing} was not printed:\n{''.join(self.lines)}"
            self.lines.append(line)
            missing = [text for text in missing if text not in line]

    def interrupt(self) -> None:
        """Do what ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Return the exit status and all that was printed."""
        assert self.process.stdout
        self.lines += self.process.stdout.readlines()
        self.process.stdout.close()
        status = self.process.wait()
        self._watch.cancel()
        return status, "".join(self.lines)


@contextmanager
def machines(tiny: Tiny, root: Path, names: Sequence[str]) -> Iterator[Machines]:
    """Give a cluster whose machines have these names; nothing of it is left in the end."""
    file = root / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = _dask(["distributed.cli.dask_scheduler", *words], root)
    found = {name: Machine(name, checkout(tiny, root / name)) for name in names}
    try:
        client = checkout(tiny, root / "client")
        address = address_of(file, scheduler)
        for machine in found.values():
            machine.process = start(machine, address)
        yield Machines(address, scheduler, client, found)
    finally:
        for process in (*(machine.process for machine in found.values()), scheduler):
            if process:
                kill(process)


def start(machine: Machine, address: str) -> psutil.Popen:
    """Start the worker of a machine and wait until the scheduler knows it."""
    words = worker_command(address, machine.name)
    log = machine.checkout.with_suffix(".log")
    log.unlink(missing_ok=True)
    process = _dask(words, machine.checkout, HOLD=str(machine.hold))
    until = time.monotonic() + PATIENCE
    while "Registered to" not in log.read_text():
        assert process.poll() is None and time.monotonic() < until
    return process


def _dask(words: Sequence[str], room: Path, **more: str) -> psutil.Popen:
    env = {**os.environ, **more}
    env.pop("PYTHONPATH", None)
    # As ./invoke worker starts it, with the room in place of its own checkout.
    command = [sys.executable, "-I", "-c", MODULE, str(room), *words]
    with room.with_suffix(".log").open("w") as log:
        return psutil.Popen(command, cwd=room, env=env, stdout=log, stderr=log)


def address_of(file: Path, scheduler: psutil.Popen) -> str:
    """Wait for the file that a scheduler writes, and return its address."""
    until = time.monotonic() + PATIENCE
    while True:
        assert scheduler.poll() is None and time.monotonic() < until
        # The scheduler makes the file before it writes it.
        with suppress(FileNotFoundError, json.JSONDecodeError):
            return str(json.loads(file.read_text())["address"])


def kill(process: psutil.Popen) -> None:
    """Kill a process and all that it has started, as a machine that stops does."""
    found = [process, *process.children(recursive=True)] if process.is_running() else []
    for one in found:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(found, PATIENCE)
    process.wait()
