"""Tasks that time and profile programs, and that show and publish the results."""

from stacks.core.console import next_step
from stacks.core.paths import expanded
from stacks.core.workspace import default_workspace
from stacks.tasks.options import BUILT, CLUSTER, built, file_of
from stacks.tasks.task import excludes, needs, prepare_cluster, remainder, task


@task(
    "bench --variants pip-default,openblas,mkl --quick",
    "bench --variants openblas,mkl -- python train.py",
    "bench --workload mlp,lenet,lstm --busy 2 --quick",
    "bench --all --quick",
    help={
        "all": "build, verify and time every variant for the CPU, with --framework those of one; "
        "the same command continues after ctrl-C",
        "variants": "NAME or FRAMEWORK/NAME, with commas between (default: all that are verified)",
        "workload": "workloads to time, with commas between (default: gemm,elementwise); see "
        "docs/guides/bench.md",
        "rounds": "number of rounds; each times every variant once (default: 11; with --quick 9)",
        "threads": "numbers of threads, such as 1,2,4 or 1-4 (default: 1, 2, 4 ... and all)",
        "quick": "time fewer sizes in fewer rounds, for minutes instead of hours",
        "machine": "folder in results/ (default: from the CPU's name)",
        "starts": "starts of each program (default: one for each round; ntm: 1)",
        "limit": "seconds that a process may take to answer (default: 3600)",
        "busy": "busy loops that run during every round (default: 0)",
        "cluster": CLUSTER + "; each machine builds, verifies and times all variants",
        "json": "of a program after --: also write each of its runs to this file, as JSON",
    },
    rules=(
        excludes("--", "cluster all", "is timed on this machine's environments"),
        excludes(
            "--", "workload threads quick machine starts limit busy", "takes no option of workloads"
        ),
        needs("json", "--"),
        excludes("all", "variants cluster", "times every variant, on this machine"),
        excludes("all", "starts", "has starts of its campaign"),
        excludes("cluster", "machine", "has workers with names: worker ADDRESS --name NAME"),
    ),
    takes_command=True,
)
def bench(
    variants: str = "",
    framework: str = "",
    all_: bool = False,
    workload: str = "",
    rounds: int = 0,
    threads: str = "",
    quick: bool = False,
    machine: str = "",
    starts: int = 0,
    limit: int = 0,
    busy: int = 0,
    cluster: str = "",
    json: str = "",
) -> None:
    """Time variants alternately and store results in results/, or time your program after --."""
    workspace = default_workspace()
    from stacks.bench.schedule import BenchOptions, split

    if program := remainder():
        from stacks.bench import user_program
        from stacks.bench.candidates import choose_candidates

        chosen = choose_candidates(workspace, split(variants), framework)
        user_program.bench(chosen, program, rounds=rounds, json_file=file_of(json))
        return
    options = BenchOptions(
        workload=workload, rounds=rounds, threads=threads, quick=quick,
        starts=starts, limit=limit, busy=busy,
    )  # fmt: skip
    if cluster:
        prepare_cluster()
        from stacks.cluster import command as on_cluster

        on_cluster.bench(workspace, cluster, variants, framework, options=options)
    else:
        from stacks.bench import command

        if all_:
            command.bench_all(workspace, options, machine, framework)
            return
        command.bench(workspace, variants, framework, options=options, machine_name=machine)
        next_step(command.NEXT)


@task(
    "results",
    "results --machine amd-epyc",
    help={"machine": "show all results of this machine (default: the last of each machine)"},
)
def results(machine: str = "") -> None:
    """Show the results in results/."""
    from stacks.bench import command

    command.show_results(default_workspace(), machine)


@task(
    "publish",
    "publish --check",
    "publish --add pip-default.json mkl.json",
    "publish --prune",
    help={
        "add": "first take these results of other machines, or the report of a device's "
        "verification, into results/: one file or more",
        "check": "write nothing; fail if these files are stale",
        "prune": "first remove the results that no published figure comes from, and compress the "
        "others",
    },
    repeated=["add"],
    rules=(excludes("check", "add prune", "writes nothing"),),
    in_checkout=True,
)
def publish(add: list[str], check: bool = False, prune: bool = False) -> None:
    """Write docs/timings.md, its picture and site/index.html from results/."""
    workspace = default_workspace()
    from stacks.timings import command

    if check:
        command.check(workspace)
        return
    if add:
        command.add(workspace, [expanded(name) for name in add])
    if prune:
        command.prune(workspace)
    command.publish(workspace)
    print("look at site/index.html in a browser, then commit docs/ and results/")
    next_step("git add docs results && git commit")


@task(
    "profile --variant mkl --workload ntm",
    "profile --variant mkl -- python train.py --epochs 2",
    help={
        "variant": BUILT,
        "workload": "ntm, gibbs, scan_gc, scan_outside, lstm, logreg, mlp, lenet or check_blas "
        "(default: ntm)",
        "linker": "another linker of the framework, such as numba (default: the C virtual machine)",
        "small": "small shapes, for a quick test",
        "fix_scan": "import theano_stacks_scan first, which makes the gradient of scans smaller",
        "memory": "of a program after --: profile its memory too, which makes it slower",
    },
    rules=(
        excludes("--", "workload linker small fix-scan", "takes no option of workloads"),
        needs("memory", "--"),
    ),
    takes_command=True,
)
def profile(
    variant: str = "",
    workload: str = "ntm",
    framework: str = "",
    linker: str = "",
    small: bool = False,
    fix_scan: bool = False,
    memory: bool = False,
    json: str = "",
) -> None:
    """Run a workload, or your program after --, in an environment and print its profile.

    The profile of your program goes to standard error: 2> FILE, or --json FILE, keeps it.
    """
    workspace = default_workspace()
    from stacks.profiles import run as profile_runs

    if command := remainder():
        chosen, prefix = built(variant, framework)
        profile_runs.profile_program(
            workspace, chosen, prefix, command, memory=memory, json_file=file_of(json)
        )
        return
    profile_runs.check_workload(workload)
    chosen, prefix = built(variant, framework)
    words = ["--linker", linker] if linker else []
    words += ["--small"] * small + ["--fix-scan"] * fix_scan
    profile_runs.profile(workspace, chosen, prefix, [workload, *words], file_of(json))


@task(
    "compare pip-default mkl",
    "compare openblas mkl -- python train.py",
    positional=["before", "after"],
    help={
        "before": "a variant, NAME or FRAMEWORK/NAME, or the file of a report of ./invoke profile",
        "after": "what to compare with it",
        "workload": "workload of the reports, if variants are named (default: ntm)",
        "rounds": "of a program after --: number of rounds (default: 9)",
    },
    rules=(excludes("--", "workload", "takes no option of workloads"), needs("rounds", "--")),
    takes_command=True,
)
def compare(
    before: str, after: str, workload: str = "ntm", framework: str = "", rounds: int = 0
) -> None:
    """Show two profiles side by side, or time your program after -- on two variants."""
    if program := remainder():
        from stacks.bench import user_program
        from stacks.bench.candidates import choose_candidates

        chosen = choose_candidates(default_workspace(), [before, after], framework)
        user_program.bench(chosen, program, rounds=rounds)
        return
    from stacks.profiles import compare as profile_compare
    from stacks.profiles import run as profile_runs

    profile_runs.check_workload(workload)
    reports = [
        profile_runs.find_report(default_workspace(), name, workload, framework or None)
        for name in (before, after)
    ]
    profile_compare.show(*reports)
