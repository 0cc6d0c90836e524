"""The process of a turn: a program of the suite that waits, stopped, between its answers."""

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stacks.bench.candidates import Candidate
from stacks.bench.result import Series
from stacks.bench.schedule import Plan, Turn
from stacks.channel.settings_files import MODULES
from stacks.core import records
from stacks.core.disk import tmp_folder
from stacks.core.process import TAIL, CommandError, quoted, start
from stacks.environments import programs
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import SUITE
from stacks.profiles.run import PROGRAM
from verify.core import machine as suite_machine
from verify.workloads.rounds import KERNELS, NUMBA

PIECE = 1 << 16
# Each BLAS library reads one of these.
THREAD_VARIABLES = ("OPENBLAS", "GOTO", "MKL", "BLIS", "OMP", "NUMBA")
# Prefixes of variables that choose kernels and threads of the BLAS libraries.
LIBRARY_VARIABLES = (
    *("OPENBLAS_", "GOTO_", "BLIS_", "THEANO_STACKS_BLIS_", "MKL_"),
    *("OMP_", "GOMP_", "KMP_", "AMDLIBM_"),
)
# With it each start compiles the Python files that it imports, some of them in its first step.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
QUICK_CASES = {"lstm": "merged"}
# Modules that a start with a warm cache may compile: some operations have no key in it.
FEW_MODULES = 3
# Significant digits of a sample; clocks have no more.
DIGITS = 6


class NoAnswerError(CommandError):
    """A program has not answered within its limit; it may still run."""


class SuspendedProcess:
    """A program that answers each JSON object on its standard input with one on its output.

    Its first answer needs no question. After each answer the whole program is stopped until the
    next question, so that its threads take no processor time. It runs in its own session, out
    of reach of ctrl-C and ctrl-Z; `kill` ends it, and removes its temporary files.
    """

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str], limit: float) -> None:
        """Start it; an answer may take `limit` seconds.

        Raises CommandError if it cannot be started.
        """
        self._words = [str(word) for word in words]
        self._limit = limit
        self._read = b""
        with contextlib.ExitStack() as stack:
            # A compiler that is killed leaves files.
            folder = stack.enter_context(tmp_folder())
            self._errors = stack.enter_context((folder / "errors").open("w+b"))
            self._process = start(
                self._words,
                env={**env, "TMPDIR": str(folder)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
            self._own = stack.pop_all()

    def answer(self) -> dict[str, Any]:
        """Return the next answer, and stop the program.

        Raises NoAnswerError if it takes longer than its limit, another CommandError if the
        program ends or its answer is no JSON object.
        """
        deadline = time.monotonic() + self._limit
        while b"\n" not in self._read:
            self._read += self._piece(deadline)
        line, _, self._read = self._read.partition(b"\n")
        self._signal(signal.SIGSTOP)
        try:
            answer = records.parse_json(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise CommandError(
                f"{quoted(self._words)}: its answer cannot be read",
                found=line.decode(errors="replace")[-200:],
            )
        return answer

    def ask(self, **question: Any) -> dict[str, Any]:
        """Continue the program with a question and return its answer; raises as `answer` does."""
        assert self._process.stdin
        self._signal(signal.SIGCONT)
        # If the program has ended, `answer` raises the error.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        return self.answer()

    def processor_seconds(self) -> float:
        """Return the seconds of processor time of the program so far."""
        return processor_seconds(self._process.pid)

    def kill(self) -> None:
        """Kill the program, stopped or not, and its children; wait for its end."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout):
            assert file
            with contextlib.suppress(BrokenPipeError):
                file.close()
        self._own.close()

    def _piece(self, deadline: float) -> bytes:
        assert self._process.stdout
        left = max(deadline - time.monotonic(), 0.0)
        if not select.select([self._process.stdout], [], [], left)[0]:
            raise NoAnswerError(
                f"{quoted(self._words)}\n{self._tail()}".rstrip(),
                expected=f"an answer within {self._limit:g} s",
                found="none: it hangs, or the machine is slow",
                fix="give it more time: --limit SECONDS",
            )
        piece = os.read(self._process.stdout.fileno(), PIECE)
        if not piece:
            status = self._process.wait()
            raise CommandError(
                f"{quoted(self._words)}\n{self._tail()}".rstrip(),
                expected="an answer",
                found=f"it was killed by {signal.Signals(-status).name}"
                if status < 0
                else f"it ended with exit status {status}",
            )
        return piece

    def _tail(self) -> str:
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace")
        return "\n".join(text.strip().splitlines()[-TAIL:])

    def _signal(self, number: signal.Signals) -> None:
        # Once it has been waited for, its process ID may belong to another process.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and its ended children so far; 0 if it is gone."""
    # proc(5): utime, stime, cutime, cstime. The second field, in brackets, may have spaces.
    fields = suite_machine.read_text(f"/proc/{process}/stat").rpartition(")")[2].split()
    return float(sum(map(int, fields[11:15])) / suite_machine.TICKS)


Open = Callable[[Sequence[str | Path], Mapping[str, str], float], SuspendedProcess]


def variables(candidate: Candidate, threads: int) -> dict[str, str]:
    """Return the variables for timing a variant: no setting of the user changes the figures."""
    # The device that its verification opened, as the result names it.
    device = (candidate.report or {}).get("device")
    module = candidate.variant.framework.module.upper()
    inherited = programs.ending_with_this_process(programs.environment(candidate.place))
    kept = {name: inherited[name] for name in inherited if not name.startswith(LIBRARY_VARIABLES)}
    return {
        **kept,
        **{f"{name}_NUM_THREADS": str(threads) for name in THREAD_VARIABLES},
        f"{module}_FLAGS": f"device={device['where']}" if device else "",
        f"{module}RC": "",
        NO_BYTECODE: "",
    }


@dataclass
class TimedProgram:
    """A process of a variant's workload, started once and timed in one or more rounds.

    ending: of its series' names. alone: nothing else compiles at the same time, so the compilation
    is timed too, where its C modules were cached. warm: they were, by an earlier start; some
    operations are never cached.
    """

    workload: str
    ending: str
    process: SuspendedProcess
    alone: bool
    warm: bool
    cases: list[dict[str, Any]] = field(default_factory=list)

    def wait(self) -> None:
        """Wait until it has compiled and is stopped; raises what `SuspendedProcess.answer` does."""
        self.cases = self.process.answer()["ready"]

    def time(self, calls: int) -> list[Series]:
        """Time it once, a program by so many calls of each case; `wait` comes before."""
        answer = self.process.ask(calls=calls)
        if not self.cases:
            return [_series(**one) for one in answer["series"]]
        return [self._series_of(each, answer["seconds"][each["name"]]) for each in self.cases]

    def _series_of(self, case: Mapping[str, Any], seconds: Sequence[float]) -> Series:
        """Return the series of a case, as the workload describes it."""
        name, compiled = case["name"], case["compile"]
        counts = self.alone and (self.warm or compiled["modules"] <= FEW_MODULES)
        return _series(
            (self.workload if name == self.workload else f"{self.workload} {name}") + self.ending,
            "s",
            seconds,
            graph=case["graph"]["signature"],
            compile=_rounded(compiled["seconds"]) if counts else None,
        )


def _series(name: str, unit: str, samples: Sequence[float], **more: Any) -> Series:
    rounded = tuple(map(_rounded, samples))
    return Series.model_validate({"name": name, "unit": unit, "samples": rounded, **more})


def _rounded(sample: float) -> float:
    """Return a figure with DIGITS significant digits, which keeps files small."""
    return float(f"{sample:.{DIGITS}g}")


def start_program(
    plan: Plan, turn: Turn, ending: str, open_process: Open = SuspendedProcess
) -> TimedProgram:
    """Start the process of a turn's workload; raises CommandError."""
    candidate, options = turn.candidate, plan.options
    words: list[str | Path] = [candidate.place / "bin/python", SUITE]
    if turn.workload in KERNELS:
        words += ["bench-probe", candidate.variant.framework.module, turn.workload]
        words += ["quick"] if options.quick else []
    else:
        words += [PROGRAM, turn.workload, "--stay"]
        if options.quick and turn.workload in QUICK_CASES:
            words += ["--case", QUICK_CASES[turn.workload]]
        words += ["--linker", "numba"] if ending == NUMBA else []
        # A function that may be profiled is another one, and the results so far are of such. A
        # product has no parts, and takes seconds.
        words += ["--profile-calls", "0" if turn.workload == "check_blas" else "1"]
        modules = candidate.place / MODULES
        if modules.is_file():
            # C modules that other environments have compiled: their bytes are the same.
            words += ["--share-modules", modules.read_text()]
        if candidate.variant.device != "cpu":
            # It names the device to wait for.
            words += ["--expect", candidate.place / EXPECTATION]
    process = open_process(words, variables(candidate, turn.threads), options.seconds_limit)
    alone = not plan.compiles_together(turn)
    return TimedProgram(turn.workload, ending, process, alone, warm=turn.start > 1)
