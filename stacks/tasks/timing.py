"""Programs timed and profiled; what was found, shown and published."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.options import CLUSTER, FRAMEWORK, JSON, VARIANT, path_of
from stacks.tasks.task import remainder, task


@task(
    help={
        "variants": "flavours, or FRAMEWORK/FLAVOUR, with commas (default: all that are verified)",
        "framework": FRAMEWORK,
        "workload": "what to time, with commas (default: gemm,elementwise); see docs/bench.md",
        "rounds": "how often each is timed, turn by turn (default: 11; with --quick 7)",
        "threads": "counts of threads, 1,2,4 or 1-4 (default: 1, 2, 4 ... and all)",
        "quick": "few sizes and rounds: minutes",
        "machine": "the folder below results/ (default: made of the processor's name)",
        "starts": "how often a program is started (default: for each round; ntm once)",
        "calls": "calls of a program in each round (default: 100; with --quick 20)",
        "limit": "seconds in which a process is to answer (default: 3600)",
        "fix_scan": "programs import theano_stacks_scan first: see docs/bench.md",
        "together": "programs of all variants compile at once: sooner, its seconds are not kept",
        "cluster": CLUSTER + "; each builds, verifies and times all of the variants",
    }
)
def bench(
    context: Context,
    variants: str = "",
    framework: str = "",
    workload: str = "",
    rounds: int = 0,
    threads: str = "",
    quick: bool = False,
    machine: str = "",
    starts: int = 0,
    calls: int = 0,
    limit: int = 0,
    together: bool = False,
    fix_scan: bool = False,
    cluster: str = "",
) -> None:
    """Time variants turn by turn, and keep the figures in results/."""
    workspace = default_workspace()
    from stacks.bench.options import BenchOptions

    options = BenchOptions(
        workload=workload, rounds=rounds, threads=threads, quick=quick,
        starts=starts, calls=calls, limit=limit, together=together,
        fix_scan=fix_scan,
    )  # fmt: skip
    if cluster:
        from stacks.cluster import programs
        from stacks.core.errors import UsageError

        if machine:
            raise UsageError(
                "--machine is for one machine",
                fix="each worker names its own: ./invoke worker ADDRESS --name NAME",
            )
        programs.prepare()
        from stacks.cluster import command as on_cluster

        on_cluster.bench(workspace, cluster, variants, framework, options=options)
        return
    from stacks.bench import command

    command.bench(workspace, variants, framework, options=options, machine_name=machine)


@task(
    positional=["address"],
    help={
        "address": "the scheduler's, such as tcp://HOST:8786",
        "name": "what this machine is called in progress and results (default: made up); workers "
        "of one name take turns",
    },
)
def worker(context: Context, address: str, name: str = "") -> None:
    """Work for a dask scheduler; words after -- go to `dask worker`."""
    from stacks.cluster import programs

    programs.worker(address, name, remainder())


@task()
def scheduler(context: Context) -> None:
    """Run a dask scheduler; words after -- go to `dask scheduler`."""
    from stacks.cluster import programs

    programs.scheduler(remainder())


@task(help={"machine": "all results of this one (default: the last of each machine)"})
def results(context: Context, machine: str = "") -> None:
    """Show what bench has kept in results/."""
    workspace = default_workspace()
    from stacks.bench import command

    command.show_results(workspace, machine)


@task(help={"check": "change nothing; fail where what is published is not what results/ gives"})
def publish(context: Context, check: bool = False) -> None:
    """Write docs/timings.md and site/index.html from results/."""
    workspace = default_workspace()
    from stacks.publish import command

    if check:
        command.check(workspace)
    else:
        command.publish(workspace)


@task(
    help={
        "variant": VARIANT,
        "workload": "ntm, gibbs, scan_gc, lstm, logreg or check_blas (default: ntm)",
        "framework": FRAMEWORK,
        "calls": "timed and then profiled calls (default: 100; of check_blas: 10)",
        "case": "only this one of the workload's cases",
        "compiles": "compile so often, and tell how often each graph came (default: 1)",
        "linker": "the framework's linker instead of the C virtual machine's, such as numba",
        "small": "small shapes, for a quick try",
        "fix_scan": "import theano_stacks_scan first: it fixes scan's gradient",
        "json": JSON,
    }
)
def profile(
    context: Context,
    variant: str,
    workload: str = "ntm",
    framework: str = "",
    calls: int = 0,
    case: str = "",
    compiles: int = 1,
    linker: str = "",
    small: bool = False,
    fix_scan: bool = False,
    json: str = "",
) -> None:
    """Run a workload in an environment and print its profile."""
    workspace = default_workspace()
    from stacks.environments import build as pipeline
    from stacks.profiles import run as profile_runs

    profile_runs.check_workload(workload)
    chosen, prefix = pipeline.ready_environment(workspace, variant, framework or None)
    wish = profile_runs.Wish(
        workload, calls=calls, case=case, linker=linker, small=small, fix_scan=fix_scan
    )
    profile_runs.profile(
        workspace, chosen, prefix, wish, compiles=compiles, json_file=path_of(json)
    )


@task(
    positional=["before", "after"],
    help={
        "before": "a report of ./invoke profile: its file, VARIANT, or FRAMEWORK/VARIANT",
        "after": "the one to compare with it",
        "workload": "which workload's reports, where variants are named (default: ntm)",
        "framework": FRAMEWORK,
        "case": "only this one of the workload's cases",
    },
)
def compare(
    context: Context,
    before: str,
    after: str,
    workload: str = "ntm",
    framework: str = "",
    case: str = "",
) -> None:
    """Show two profiles side by side, the largest change first."""
    workspace = default_workspace()
    from stacks.profiles import compare as profile_compare
    from stacks.profiles import run as profile_runs

    profile_runs.check_workload(workload)
    reports = [
        profile_runs.find(workspace, name, workload, framework or None) for name in (before, after)
    ]
    profile_compare.show(*reports, case=case)
