"""The processes of a turn: one that times kernels, or a program that waits between its rounds.

What a round consists of is in verify/workloads/rounds.py, for environments and images alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stacks.bench.candidates import Candidate
from stacks.bench.processes import SuspendedProcess
from stacks.bench.result import Series
from stacks.bench.schedule import Plan, Turn
from stacks.channel.settings_files import MODULES
from stacks.core import jsonfile
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.process import call
from stacks.environments import programs
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import SUITE, ending_with_this_process
from stacks.profiles.run import PROGRAM
from stacks.variants.variant import SCAN_FIX
from verify.workloads import rounds

Open = Callable[[Sequence[str | Path], Mapping[str, str], float], SuspendedProcess]
Measure = Callable[[Plan, Turn], list[Series]]


def environment_of(candidate: Candidate, threads: int) -> dict[str, str]:
    """Return the variables for timing a variant on so many threads."""
    # The device that its verification opened, as the result names it.
    device = (candidate.report or {}).get("device")
    flags = f"device={device['where']}" if device else ""
    inherited = programs.environment(candidate.place)
    env = rounds.variables(inherited, candidate.variant.framework.module, threads, flags)
    return ending_with_this_process(env)


def measure_kernels(plan: Plan, turn: Turn) -> list[Series]:
    """Run the kernels of a turn in a process and return their series.

    Raises StacksError if it fails, hangs, or prints no measurement.
    """
    candidate, options = turn.candidate, plan.options
    module = candidate.variant.framework.module
    words: list[str | Path] = [candidate.place / "bin/python", SUITE, "bench-probe"]
    words += rounds.kernel_words(module, turn.workload, options.quick)
    env = environment_of(candidate, turn.threads)
    output = call(words, env=env, limit=options.seconds_limit)
    last = (output.strip().splitlines() or [""])[-1]
    try:
        return [_kernel_series(one) for one in jsonfile.parse(last)["series"]]
    except (KeyError, TypeError, ValueError) as error:
        raise StacksError(
            f"{candidate.variant.id}: {turn.workload}: no measurement: {error}", found=last[-200:]
        ) from error


def _kernel_series(content: dict[str, Any]) -> Series:
    samples = tuple(rounds.rounded(content["samples"]))
    return Series.model_validate({**content, "samples": samples})


def process_of(workload: str, measure: str) -> str:
    """Return the name of the process that answers a measure: all kernels are one's."""
    is_kernel = workload.partition(",")[0] in rounds.KERNELS
    return workload + (rounds.NUMBA if measure.endswith(rounds.NUMBA) and not is_kernel else "")


def endings_of(plan: Plan, turn: Turn) -> tuple[str, ...]:
    """Return the endings of the series' names of a turn's program: a process for each."""
    framework = turn.candidate.variant.framework
    if plan.campaign and plan.options.quick:
        return ("",)
    endings: tuple[str, ...] = rounds.endings(framework.module, framework.version, turn.workload)
    return endings


@dataclass
class TimedProgram:
    """A process of a variant's program, started once and timed in many rounds.

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
        """Call each case so many times and return the series; `wait` comes before."""
        seconds = self.process.ask(calls=calls)["seconds"]
        return [self._series(each, seconds[each["name"]]) for each in self.cases]

    def _series(self, case: Mapping[str, Any], seconds: Sequence[float]) -> Series:
        content = rounds.series(self.workload, self.ending, case, seconds, self.warm)
        content["samples"] = tuple(content["samples"])
        return Series.model_validate(content | ({} if self.alone else {"compile": None}))


def start_program(
    plan: Plan, turn: Turn, ending: str, start: Open = SuspendedProcess
) -> TimedProgram:
    """Start the process of a turn's program; raises CommandError."""
    candidate, options = turn.candidate, plan.options
    words: list[str | Path] = [candidate.place / "bin/python", SUITE, PROGRAM]
    words += rounds.program_words(turn.workload, ending, options.quick)
    modules = candidate.place / MODULES
    if modules.is_file():
        # C modules that other environments have compiled: their bytes are the same.
        words += ["--share-modules", modules.read_text()]
    env = environment_of(candidate, turn.threads)
    if options.fix_scan:
        words.append("--fix-scan")
        # The baseline's environment lacks this module.
        env["PYTHONPATH"] = str(REPOSITORY / "recipes" / SCAN_FIX / "src")
    if candidate.variant.device != "cpu":
        # It names the device to wait for.
        words += ["--expect", candidate.place / EXPECTATION]
    process = start([*words, "--stay"], env, options.seconds_limit)
    alone = not plan.compiles_together(turn)
    return TimedProgram(turn.workload, ending, process, alone, warm=turn.start > 1)
