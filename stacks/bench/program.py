"""A workload's program in the environment of a variant: started once, timed in many rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench import profile
from stacks.bench.candidates import Candidate
from stacks.bench.profile import Profile
from stacks.bench.result import NUMBA, Series
from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core.errors import StacksError
from stacks.profiles.run import PROGRAM

PROFILE_CALLS = 20
# No clock tells more, and the files are smaller.
DIGITS = 6
# Some operations have no name in the cache: these are compiled at every start.
FEW_MODULES = 3

Open = Callable[[Sequence[str | Path], Mapping[str, str], float], SuspendedProcess]


@dataclass(frozen=True)
class Silence:
    """That a process did not answer in time, the processor seconds it had taken, what to say."""

    processor: float
    error: NoAnswerError


class TimedProgram:
    """One start of a variant's workload: a process, and on PyTensor another one for numba.

    A process that does not answer in time is ended, and the others go on. All methods raise
    StacksError where one ends by itself, or says what is no measurement.
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
        without: Collection[str] = (),
        start: Open = SuspendedProcess,
    ) -> None:
        """Nothing is started yet. An answer may take `limit` seconds.

        `alone` says that nothing else compiles meanwhile, so that it counts how long this takes;
        `without` names processes that are not started, by what ends their measures' names.
        """
        self._candidate, self._workload, self._alone = candidate, workload, alone
        self._env, self._limit, self._open = env, limit, start
        self._processes: dict[str, SuspendedProcess] = {}
        self._silences: dict[str, Silence] = {}
        # {ending of the measure's name: {case: what is known of it}}
        self._cases: dict[str, dict[str, dict[str, Any]]] = {}
        words: list[str | Path] = [candidate.place / "bin/python", *PROGRAM, workload, *options]
        words += ["--stay", "--profile-calls", str(profile_calls(workload))]
        self._words = {"": words}
        if candidate.variant.framework.module == "pytensor":
            # What a user gets who asks for nothing.
            self._words[NUMBA] = [*words, "--linker", "numba"]
        for ending in without:
            del self._words[ending]

    def start(self) -> None:
        """Start all of it, which then compiles by itself."""
        for ending, words in self._words.items():
            self._processes[ending] = self._open(words, self._env, self._limit)

    def wait(self) -> None:
        """Wait until it has compiled, and is stopped; what has not been started is, in turn."""
        for ending, words in self._words.items():
            if ending not in self._processes:
                self._processes[ending] = self._open(words, self._env, self._limit)
            with self._understood(), self._heard(ending):
                ready = self._processes[ending].answer()["ready"]
                self._cases[ending] = {case["name"]: case for case in ready}

    def time(self, calls: int) -> list[Series]:
        """Call each case so many times and return what that took. It has compiled before."""
        found = []
        for ending, process in list(self._processes.items()):
            with self._understood(), self._heard(ending):
                seconds = process.ask(calls=calls)["seconds"]
                for name, case in self._cases[ending].items():
                    found.append(self._series(ending, case, seconds[name]))
        return found

    def profiles(self) -> dict[str, Profile | None]:
        """Call each case some more with the profile on; return the profiles by measure's name."""
        found = {}
        for ending, process in list(self._processes.items()):
            with self._understood(), self._heard(ending):
                for case in process.ask(report=True)["report"]["cases"]:
                    found[self._name(ending, case)] = profile.of_case(case)
        return found

    def silences(self) -> dict[str, Silence]:
        """Return those that have not been told yet, by what ends the names of their measures."""
        told, self._silences = self._silences, {}
        return told

    def first_calls(self) -> float:
        """Return the seconds that the calls of every case take, by the first; 0 before it has one.

        numba compiles in its first call, so its calls are taken to last as long as the others'.
        """
        with self._understood():
            every = [case for known in self._cases.values() for case in known.values()]
            names = {case["name"] for case in every}
            least = {n: min(float(c["first_call"]) for c in every if c["name"] == n) for n in names}
            return sum(least[case["name"]] for case in every)

    def processor_seconds(self) -> float:
        """Return the processor time that the processes have taken so far."""
        return sum(process.processor_seconds() for process in self._processes.values())

    def kill(self) -> None:
        """End the processes, stopped or not."""
        for process in self._processes.values():
            process.kill()

    def _name(self, ending: str, case: Mapping[str, Any]) -> str:
        own = case["name"] == self._workload
        return (self._workload if own else f"{self._workload} {case['name']}") + ending

    def _series(self, ending: str, case: Mapping[str, Any], seconds: Sequence[float]) -> Series:
        counts = self._alone and case["modules"] <= FEW_MODULES
        return Series(
            name=self._name(ending, case),
            unit="s",
            samples=tuple(_short(sample) for sample in seconds),
            graph=case["graph"],
            compile=_short(case["compile"]) if counts else None,
        )

    @contextmanager
    def _heard(self, ending: str) -> Iterator[None]:
        try:
            yield
        except NoAnswerError as error:
            process = self._processes.pop(ending)
            self._cases.pop(ending, None)
            self._silences[ending] = Silence(process.processor_seconds(), error)
            process.kill()

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError) as error:
            raise StacksError(
                f"{self._candidate.variant.id}: {self._workload}: no measurement", found=str(error)
            ) from error


def profile_calls(workload: str) -> int:
    """Return how many calls are profiled, after the timed ones."""
    # One product has nothing to break down, and takes seconds.
    return 1 if workload == "check_blas" else PROFILE_CALLS


def _short(seconds: float) -> float:
    return float(f"{seconds:.{DIGITS}g}")
