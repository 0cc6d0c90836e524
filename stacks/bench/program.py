"""The program of a workload in a variant's environment: started once, timed in many rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench import probe, profile
from stacks.bench.candidates import Candidate
from stacks.bench.profile import Profile
from stacks.bench.record import rounded
from stacks.bench.result import NUMBA, Series
from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core.errors import StacksError
from stacks.environments.settings import EXPECTATION
from stacks.environments.verify import SUITE
from stacks.profiles.run import PROGRAM

PROFILE_CALLS = 10
# Significant digits; clocks have no more.
DIGITS = 6
# Modules that a first start with a warm cache may compile: some operations have no key in it.
FEW_MODULES = 3

Open = Callable[[Sequence[str | Path], Mapping[str, str], float], SuspendedProcess]


@dataclass(frozen=True)
class Failure:
    """A process without an answer: its processor seconds until then, and the error."""

    processor: float
    error: StacksError


class TimedProgram:
    """One start of a variant's workload: a process, and on PyTensor 3 another one for numba.

    A process that does not answer in time is killed, and the others continue. All methods raise
    StacksError if a process ends by itself, or its answer is no measurement; with `keep_going` the
    others continue then, too.
    """

    def __init__(
        self,
        candidate: Candidate,
        workload: str,
        options: Sequence[str],
        env: Mapping[str, str],
        limit: float,
        *,
        alone: bool = True,
        warm: bool = False,
        keep_going: bool = False,
        without: Collection[str] = (),
        start: Open = SuspendedProcess,
    ) -> None:
        """Start nothing yet.

        limit: seconds that an answer may take. alone: nothing else compiles at the same time, so
        the compilation is timed too, where its C modules were cached. warm: they were, by an
        earlier start; some operations are never cached. without: endings of measures' names,
        `NUMBA` or "", whose processes are not started.
        """
        self._candidate, self._workload, self._alone = candidate, workload, alone
        self._keep_going, self._warm = keep_going, warm
        self._env, self._limit, self._open = env, limit, start
        self._processes: dict[str, SuspendedProcess] = {}
        self._failures: dict[str, Failure] = {}
        # {ending of the measure's name: {case: its content}}
        self._cases: dict[str, dict[str, dict[str, Any]]] = {}
        words: list[str | Path] = [
            candidate.place / "bin/python",
            SUITE,
            PROGRAM,
            workload,
            *options,
        ]
        if candidate.variant.device != "cpu":
            # It names the device to wait for.
            words += ["--expect", candidate.place / EXPECTATION]
        words += ["--stay", "--profile-calls", str(profile_calls(workload))]
        self._words = {"": words}
        if probe.runs_numba(candidate.variant.framework, workload):
            self._words[NUMBA] = [*words, "--linker", "numba"]
        for ending in without:
            self._words.pop(ending, None)

    def start(self) -> None:
        """Start all processes; they compile in parallel."""
        for ending, words in self._words.items():
            self._processes[ending] = self._open(words, self._env, self._limit)

    def wait(self) -> None:
        """Wait until all have compiled and are stopped; start those that are not started yet."""
        for ending, words in self._words.items():
            if ending not in self._processes:
                self._processes[ending] = self._open(words, self._env, self._limit)
            with self._measuring(ending):
                ready = self._processes[ending].answer()["ready"]
                self._cases[ending] = {case["name"]: case for case in ready}

    def time(self, calls: int) -> list[Series]:
        """Call each case so many times and return the series; `wait` comes before."""
        series = []
        for ending, process in list(self._processes.items()):
            with self._measuring(ending):
                seconds = process.ask(calls=calls)["seconds"]
                for name, case in self._cases[ending].items():
                    series.append(self._series(ending, case, seconds[name]))
        return series

    def profiles(self) -> dict[str, Profile | None]:
        """Call each case again with the profile on; return {measure's name: profile}."""
        profiles: dict[str, Profile | None] = {}
        if not profile_calls(self._workload):
            return profiles
        for ending, process in list(self._processes.items()):
            with self._measuring(ending):
                for case in process.ask(report=True)["report"]["cases"]:
                    profiles[self._name(ending, case)] = profile.of_case(case)
        return profiles

    def new_failures(self) -> dict[str, Failure]:
        """Return the failures since the last call, by the ending of their measures' names."""
        failures, self._failures = self._failures, {}
        return failures

    def first_calls(self) -> float:
        """Return the seconds of one call of every case, estimated from the first calls.

        numba compiles in its first call, so the other linker's call stands for it.
        """
        with self._measuring():
            every = [case for cases in self._cases.values() for case in cases.values()]
            names = {case["name"] for case in every}
            least = {n: min(float(c["first_call"]) for c in every if c["name"] == n) for n in names}
            return sum(least[case["name"]] for case in every)

    def processor_seconds(self) -> float:
        """Return the processor time of the processes so far."""
        return sum(process.processor_seconds() for process in self._processes.values())

    def kill(self) -> None:
        """Kill the processes, stopped or not."""
        for process in self._processes.values():
            process.kill()

    def _name(self, ending: str, case: Mapping[str, Any]) -> str:
        own = case["name"] == self._workload
        return (self._workload if own else f"{self._workload} {case['name']}") + ending

    def _series(self, ending: str, case: Mapping[str, Any], seconds: Sequence[float]) -> Series:
        counts = self._alone and (self._warm or case["modules"] <= FEW_MODULES)
        return Series(
            name=self._name(ending, case),
            unit="s",
            samples=tuple(_short(sample) for sample in seconds),
            graph=case["graph"],
            compile=_short(case["compile"]) if counts else None,
        )

    @contextmanager
    def _measuring(self, ending: str = "") -> Iterator[None]:
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
            if not (self._keep_going or isinstance(error, NoAnswerError)):
                raise
            process = self._processes.pop(ending)
            self._cases.pop(ending, None)
            self._failures[ending] = Failure(process.processor_seconds(), error)
            process.kill()


def profile_calls(workload: str) -> int:
    """Return the number of profiled calls, which follow the timed ones."""
    # A product has no parts, and takes seconds.
    return 0 if workload == "check_blas" else PROFILE_CALLS


def _short(seconds: float) -> float:
    return rounded(seconds, DIGITS)
