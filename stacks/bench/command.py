"""`./invoke bench` and `./invoke results`."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Sequence

from stacks.bench import machine, noise, probe, rounds, schedule, store
from stacks.bench import table as bench_table
from stacks.bench.candidates import Candidate, candidates, to_time
from stacks.bench.options import BenchOptions, split
from stacks.bench.result import Result, Run, Settings
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.environments import settings
from stacks.variants.variant import Variant, load_variant, on_framework

# A clock that was set during the run; what it drifts by itself is far less.
JUMP = 2.0


def bench(
    workspace: Workspace,
    variants: str = "",
    framework: str = "",
    *,
    asked: BenchOptions,
    machine_name: str = "",
) -> None:
    """Time variants beside each other, keep the result, print it.

    Raises UsageError for what cannot be timed, and a StacksError where a process fails; nothing
    is kept then.
    """
    result = timed(workspace, variants, framework, asked=asked, machine_name=machine_name)
    path = store.write(workspace, result)
    bench_table.show(result)
    print(f"kept in {path.relative_to(workspace.root)}", file=sys.stderr)


def timed(
    workspace: Workspace,
    variants: str = "",
    framework: str = "",
    *,
    asked: BenchOptions,
    machine_name: str = "",
) -> Result:
    """Time variants beside each other and return the result; raises what `bench` raises."""
    asked.check()
    plan = schedule.Plan(
        candidates=tuple(choose(workspace, split(variants), framework)),
        workloads=asked.workloads,
        threads=counts(asked.threads, machine.usable()),
        rounds=asked.number,
        quick=asked.quick,
        starts=asked.starts,
        calls=asked.calls,
        limit=asked.limit or probe.LIMIT,
        every_count=bool(asked.threads),
        together=asked.together,
        fix_scan=asked.fix_scan,
    )
    if plan.fix_scan:
        _check_fixes(workspace, plan.candidates)
    reports = [c.report for c in plan.candidates if c.report]
    here = machine.describe(reports)
    here = here.model_copy(update={"name": store.name_for(workspace, here, machine_name or None)})
    began = datetime.datetime.now(datetime.timezone.utc)
    start = time.monotonic()
    # What is timed is the content of now, not of when it ends.
    commit, changed = revision()
    found = rounds.run(plan)
    seconds = time.monotonic() - start
    by_date = (datetime.datetime.now(datetime.timezone.utc) - began).total_seconds()
    return Result(
        schema=store.SCHEMA,
        began=began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(seconds, 1),
        commit=commit,
        changed=changed,
        machine=here,
        settings=Settings(
            workloads=plan.workloads,
            rounds=plan.rounds,
            threads=plan.threads,
            quick=plan.quick,
            pinned=found.pinned,
            quota=noise.quota(),
        ),
        subjects=tuple(candidate.subject for candidate in plan.candidates),
        runs=tuple(found.runs),
        missing=tuple(found.missing),
        remarks=tuple(remarks(found.runs, found.pinned, by_date - seconds, asked)),
    )


def _check_fixes(workspace: Workspace, candidates: Sequence[Candidate]) -> None:
    """Raise UsageError where there is a framework that --fix-scan is not made for."""
    frameworks = dict.fromkeys(c.variant.framework.name for c in candidates)
    made_for = {
        c.variant.framework.name
        for c in candidates
        if settings.SCAN in settings.site_for(c.variant.framework)
    }
    if others := [name for name in frameworks if name not in made_for]:
        raise UsageError(
            f"--fix-scan: theano_stacks_scan is not made for {', '.join(others)}",
            expected="Theano 0.8.2, Theano 1.0.5, PyTensor",
            fix="leave the option out, or these variants",
        )


def choose(workspace: Workspace, names: Sequence[str], framework: str) -> list[Candidate]:
    """Return the variants to be timed: those that are named, else all that may be.

    A name is a flavour, or FRAMEWORK/FLAVOUR. UsageError where one may not be timed.
    """
    if names:
        return to_time(workspace, [named(workspace, name, framework) for name in names])
    built = candidates(
        workspace, [v for v in on_framework(workspace, framework or None) if v.device == "cpu"]
    )
    found = [candidate for candidate in built if candidate.verified]
    for candidate in built:
        if not candidate.verified:
            print(f"left out: {candidate.variant.id}: not verified", file=sys.stderr)
    if not found:
        raise UsageError(
            "nothing to time: no variant is built and verified",
            fix="./invoke build --variant NAME for each that is meant: see ./invoke list",
        )
    return found


def named(workspace: Workspace, name: str, framework: str) -> Variant:
    """Return the variant that a name means."""
    place, _, flavour = name.rpartition("/")
    return load_variant(workspace, flavour, place or framework or None)


def counts(text: str, most: int) -> tuple[int, ...]:
    """Return thread counts, ascending: of `1,2,4` or `1-4`; without any, 1, 2, 4 ... and all."""
    if not text:
        return tuple(sorted({1, *(2**n for n in range(1, 12) if 2**n < most), most}))
    found: set[int] = set()
    for word in split(text):
        low, dash, high = word.partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise UsageError(
                f"--threads {text}: not a list of numbers", expected="for example 1,2,4 or 1-4"
            )
        found |= set(range(int(low), int(high or low) + 1))
    if not found or min(found) < 1 or max(found) > most:
        raise UsageError(
            f"--threads {text}: not so many processors are usable", expected=f"1 to {most}"
        )
    return tuple(sorted(found))


def remarks(
    runs: Sequence[Run], pinned: bool, jump: float, asked: BenchOptions | None = None
) -> list[str]:
    """Return what a reader must know before trusting the figures."""
    said = noise.remarks([run.noise for run in runs])
    limit = noise.quota()
    if limit is not None and limit < machine.usable():
        said.append(f"a container's limit allows {limit:g} of {machine.usable()} cores")
    if asked and asked.fix_scan:
        said.append(
            "programs import theano_stacks_scan first, the baseline's too, whose users have no "
            "such module"
        )
    if asked and asked.together:
        said.append("all variants compiled at once: the seconds of their compilation are too long")
    if not pinned:
        said.append("the system did not allow to keep runs to processors of their own")
    if abs(jump) > JUMP:
        said.append(
            f"the system's date was changed by {jump:+.0f} s meanwhile; durations are by a clock "
            "that this does not move"
        )
    return said


def revision() -> tuple[str | None, bool]:
    """Return the commit of this project and whether files differ from it; results do not count."""
    try:
        commit = call(["git", "-C", REPOSITORY, "rev-parse", "HEAD"]).strip()
        changes = call(["git", "-C", REPOSITORY, "status", "--porcelain", "--", ".", ":!results"])
    except CommandError:
        return None, True
    return commit, bool(changes.strip())


def _of(one: store.Found) -> tuple[str, ...]:
    return (one.path.parent.name, *(subject.id for subject in one.result.subjects))


def show_results(workspace: Workspace, machine_name: str = "") -> None:
    """Print the last result of the same variants on each machine, or all of one machine's.

    What cannot be read is named. Raises UsageError where there are none.
    """
    found, bad = store.read_all(workspace)
    chosen = [one for one in found if machine_name in ("", one.path.parent.name)]
    if not machine_name:
        chosen = list({_of(one): one for one in chosen}.values())
    for one in chosen:
        bench_table.show(one.result)
        print()
    for said in [*store.mixed(found), *map(str, bad)]:
        print(f"warning: {said}", file=sys.stderr)
    if not chosen:
        raise UsageError("no results", fix="./invoke bench makes some")
