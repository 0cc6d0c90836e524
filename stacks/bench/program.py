"""The program of a workload in a variant's environment: started once, timed in many rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench import profile
from stacks.bench.candidates import Candidate
from stacks.bench.profile import Profile
from stacks.bench.result import Series
from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core.errors import StacksError
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.suite import SUITE
from stacks.profiles.run import PROGRAM
from verify.workloads import rounds

Open = Callable[[Sequence[str | Path], Mapping[str, str], float], SuspendedProcess]


@dataclass(frozen=True)
class Failure:
    """A process without an answer: its processor seconds until then, and the error."""

    processor: float
    error: StacksError


@dataclass(frozen=True, kw_only=True)
class Start:
    """How a program is started.

    options: more of the program's. limit: seconds that an answer may take. alone: nothing else
    compiles at the same time, so the compilation is timed too, where its C modules were cached.
    warm: they were, by an earlier start; some operations are never cached. keep_going: a process
    that fails does not end the others. without: endings of series' names whose processes are not
    started.
    """

    options: tuple[str, ...] = ()
    env: Mapping[str, str]
    limit: float
    quick: bool = False
    alone: bool = True
    warm: bool = False
    keep_going: bool = False
    without: Collection[str] = ()


class TimedProgram:
    """One start of a variant's workload: a process, and on PyTensor 3 another one for numba.

    A process that does not answer in time is killed, and the others continue. All methods raise
    StacksError if a process ends by itself, or its answer is no measurement; with `keep_going` the
    others continue then, too.
    """

    def __init__(
        self, candidate: Candidate, workload: str, how: Start, start: Open = SuspendedProcess
    ) -> None:
        """Start nothing yet."""
        self._candidate, self._workload, self._how, self._open = candidate, workload, how, start
        self._processes: dict[str, SuspendedProcess] = {}
        self._failures: dict[str, Failure] = {}
        # {ending of the series' name: the cases, as the process has compiled them}
        self._cases: dict[str, list[dict[str, Any]]] = {}
        framework = candidate.variant.framework
        self._endings = [
            ending
            for ending in rounds.endings(framework.module, framework.version, workload)
            if ending not in how.without
        ]

    def _words(self, ending: str) -> list[str | Path]:
        program = rounds.program_words(self._workload, ending, self._how.quick)
        words = [self._candidate.place / "bin/python", SUITE, PROGRAM, *program]
        words += self._how.options
        if self._candidate.variant.device != "cpu":
            # It names the device to wait for.
            words += ["--expect", self._candidate.place / EXPECTATION]
        profiled = rounds.profiled_calls(self._workload)
        return [*words, "--stay", "--profile-calls", str(profiled)]

    def start(self) -> None:
        """Start all processes that are not; they compile in parallel."""
        for ending in self._endings:
            self._start(ending)

    def _start(self, ending: str) -> None:
        if ending not in self._processes:
            words, how = self._words(ending), self._how
            self._processes[ending] = self._open(words, how.env, how.limit)

    def wait(self) -> None:
        """Wait until all have compiled and are stopped; start those that are not started yet."""
        for ending in self._endings:
            self._start(ending)
            with self._measuring(ending):
                self._cases[ending] = self._processes[ending].answer()["ready"]

    def time(self, calls: int) -> list[Series]:
        """Call each case so many times and return the series; `wait` comes before."""
        series = []
        for ending, process in list(self._processes.items()):
            with self._measuring(ending):
                seconds = process.ask(calls=calls)["seconds"]
                cases = self._cases[ending]
                series += [self._series(ending, each, seconds[each["name"]]) for each in cases]
        return series

    def _series(self, ending: str, case: Mapping[str, Any], seconds: Sequence[float]) -> Series:
        content = rounds.series(self._workload, ending, case, seconds, self._how.warm)
        content["samples"] = tuple(content["samples"])
        return Series.model_validate(content | ({} if self._how.alone else {"compile": None}))

    def profiles(self) -> dict[str, Profile | None]:
        """Call each case again with the profile on; return {series' name: profile}."""
        profiles: dict[str, Profile | None] = {}
        if not rounds.profiled_calls(self._workload):
            return profiles
        for ending, process in list(self._processes.items()):
            with self._measuring(ending):
                for case in process.ask(report=True)["report"]["cases"]:
                    name = rounds.series_name(self._workload, ending, case["name"])
                    profiles[name] = profile.of_case(case)
        return profiles

    def new_failures(self) -> dict[str, Failure]:
        """Return the failures since the last call, by the ending of their series' names."""
        failures, self._failures = self._failures, {}
        return failures

    def processor_seconds(self) -> float:
        """Return the processor time of the processes so far."""
        return sum(process.processor_seconds() for process in self._processes.values())

    def kill(self) -> None:
        """Kill the processes, stopped or not."""
        for process in self._processes.values():
            process.kill()

    @contextmanager
    def _measuring(self, ending: str) -> Iterator[None]:
        """Kill a process that does not answer in time; raise StacksError for an invalid answer."""
        try:
            try:
                yield
            except (KeyError, TypeError, ValueError) as error:
                raise StacksError(
                    f"{self._candidate.variant.id}: {self._workload}: no measurement",
                    found=str(error),
                ) from error
        except StacksError as error:
            if not (self._how.keep_going or isinstance(error, NoAnswerError)):
                raise
            process = self._processes.pop(ending)
            self._failures[ending] = Failure(process.processor_seconds(), error)
            process.kill()
