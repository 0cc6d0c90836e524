"""The front door: one short task for each command; the work is done in stacks/."""

from __future__ import annotations

from pathlib import Path

from invoke.context import Context

from stacks.front import remainder, task

VARIANT = "a file of envs/variants by its name: see ./invoke list"
FRAMEWORK = "a file of envs/frameworks by its name (default: theano-1.0.5)"
CHANNEL = "another channel than the project's: its address, or a name as conda knows it"
FULL = "also the long timings: check_blas at 5000"
JSON = "write the report as JSON to this file, too"
CLUSTER = "on the machines of this dask scheduler: docs/cluster.md"


@task(
    help={
        "variant": VARIANT,
        "framework": FRAMEWORK,
        "channel": CHANNEL,
        "to": "prefix: a folder below build/; docker: an image in the engine; oci: one in a file",
        "file": "with --to oci, where it goes: an OCI layout, which docker and podman load as well",
        "base": "what an image lies on instead of the project's own base: an image by its name, "
        "or with --to oci a tar archive of a root",
        "full": FULL,
        "json": JSON,
        "cluster": CLUSTER + "; without --variant all of them",
    }
)
def build(
    context: Context,
    variant: str = "",
    framework: str = "",
    channel: str = "",
    to: str = "prefix",
    file: str = "",
    base: str = "",
    full: bool = False,
    json: str = "",
    cluster: str = "",
) -> None:
    """Make a variant's environment, verify it, print the table."""
    from stacks import pipeline, verification
    from stacks.errors import UsageError
    from stacks.names import unknown
    from stacks.variant import load_variant, select

    if cluster:
        if to != "prefix" or file or base or json:
            raise UsageError(
                "--cluster makes environments: its reports are kept in build/cluster",
                mend="leave out --to, --file, --base and --json",
            )
        from stacks.cluster import tools

        tools.prepare()
        from stacks.cluster import command

        command.build(cluster, select(_on(channel, variant), framework), full=full)
        return
    if not variant:
        raise UsageError(
            "no variant to build", mend="--variant NAME: `./invoke list` shows all that there are"
        )
    chosen = load_variant(_on(channel, variant), framework or None)
    if file and to != "oci":
        raise UsageError("--file is for images in a file", mend="add --to oci")
    if to == "docker":
        from stacks.image import docker

        docker.build(chosen, base_name=base, full=full, json_file=_path(json))
    elif to == "oci":
        from stacks.image import oci

        print(oci.write(chosen, oci.file_for(chosen, _path(file)), _path(base)))
    elif to != "prefix":
        raise unknown("place to build to", to, ("prefix", "docker", "oci"))
    elif base:
        raise UsageError("--base is for images", mend="add --to docker or --to oci")
    else:
        prefix = pipeline.make_environment(chosen)
        verification.verify_variant(chosen, prefix, full=full, json_file=_path(json))


@task(help={"check": "change nothing; fail where a committed file is stale"})
def render(context: Context, check: bool = False) -> None:
    """Write what follows from envs/: Dockerfiles (docker/), the jobs of CI (.github/)."""
    from stacks import matrix
    from stacks.image import dockerfile
    from stacks.variant import all_variants

    for made in (dockerfile, matrix):
        if check:
            made.check(all_variants())
        else:
            made.write(all_variants())


@task()
def base(context: Context) -> None:
    """Make the base of the images and import it into the engine."""
    from stacks import engine
    from stacks.image import docker

    print(docker.prepare_base(engine.find()))


@task(help={"variant": VARIANT, "framework": FRAMEWORK})
def reproduce(context: Context, variant: str, framework: str = "") -> None:
    """Make an image twice, differently, and compare them."""
    from stacks.image import reproduce
    from stacks.variant import load_variant

    print(reproduce.reproduce(load_variant(variant, framework or None)))


@task(
    help={
        "variant": VARIANT,
        "framework": FRAMEWORK,
        "python": "diagnose this interpreter instead: any that has Theano or a descendant",
        "full": FULL,
        "json": JSON,
    }
)
def verify(
    context: Context,
    variant: str = "",
    framework: str = "",
    python: str = "",
    full: bool = False,
    json: str = "",
) -> None:
    """Verify a built variant, or diagnose any Python (--python)."""
    from stacks import pipeline, verification
    from stacks.errors import UsageError

    if bool(variant) == bool(python):
        raise UsageError(
            "nothing to verify" if not variant else "two things to verify",
            expected="either --variant NAME or --python PATH",
        )
    if python:
        verification.verify_python(python, full=full, json_file=_path(json))
    else:
        chosen, prefix = pipeline.ready_environment(variant, framework or None)
        verification.verify_variant(chosen, prefix, full=full, json_file=_path(json))


@task(
    help={
        "framework": FRAMEWORK,
        "rounds": "how often each variant is measured, turn by turn (default: 7)",
    }
)
def recommend(context: Context, framework: str = "", rounds: int = 7) -> None:
    """Measure the built variants and name the fastest that verifies."""
    from stacks import lock, recommend
    from stacks.variant import on_framework

    recommend.recommend(lock.and_elsewhere(on_framework(framework or None)), rounds)


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
        "mend_scan": "programs on Theano import theano_stacks_scan first: see docs/bench.md",
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
    mend_scan: bool = False,
    cluster: str = "",
) -> None:
    """Time variants turn by turn, and keep the figures in results/."""
    from stacks.bench.asked import Asked

    asked = Asked(
        workload=workload, rounds=rounds, threads=threads, quick=quick,
        starts=starts, calls=calls, limit=limit, together=together,
        mend_scan=mend_scan,
    )  # fmt: skip
    if cluster:
        from stacks.cluster import tools
        from stacks.errors import UsageError

        if machine:
            raise UsageError(
                "--machine is for one machine",
                mend="each worker names its own: ./invoke worker ADDRESS --name NAME",
            )
        tools.prepare()
        from stacks.cluster import command as on_cluster

        on_cluster.bench(cluster, variants, framework, asked=asked)
        return
    from stacks.bench import command

    command.bench(variants, framework, asked=asked, machine_name=machine)


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
    from stacks.cluster import start

    start.worker(address, name, remainder())


@task()
def scheduler(context: Context) -> None:
    """Run a dask scheduler; words after -- go to `dask scheduler`."""
    from stacks.cluster import start

    start.scheduler(remainder())


@task(help={"machine": "all results of this one (default: the last of each machine)"})
def results(context: Context, machine: str = "") -> None:
    """Show what bench has kept in results/."""
    from stacks.bench import command

    command.show_results(machine)


@task(help={"check": "change nothing; fail where what is published is not what results/ gives"})
def publish(context: Context, check: bool = False) -> None:
    """Write docs/timings.md and site/index.html from results/."""
    from stacks.publish import command

    if check:
        command.check()
    else:
        command.publish()


@task()
def matrix(context: Context) -> None:
    """Print the variants as the matrix of CI's jobs, in JSON."""
    import json

    from stacks.matrix import matrix
    from stacks.variant import all_variants

    print(json.dumps(matrix(all_variants()), indent=2))


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
        "mend_scan": "import theano_stacks_scan first: it mends scan's gradient",
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
    mend_scan: bool = False,
    json: str = "",
) -> None:
    """Run a workload in an environment and print its profile."""
    from stacks import pipeline, profiling

    profiling.check_workload(workload)
    chosen, prefix = pipeline.ready_environment(variant, framework or None)
    wish = profiling.Wish(
        workload, calls=calls, case=case, linker=linker, small=small, mend_scan=mend_scan
    )
    profiling.profile(chosen, prefix, wish, compiles=compiles, json_file=_path(json))


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
    from stacks import compare, profiling

    profiling.check_workload(workload)
    reports = [profiling.find(name, workload, framework or None) for name in (before, after)]
    compare.show(*reports, case=case)


@task(help={"variant": VARIANT, "framework": FRAMEWORK})
def run(context: Context, variant: str, framework: str = "") -> None:
    """Run a program in an environment: run --variant V -- CMD."""
    from stacks import pipeline, running

    chosen, prefix = pipeline.ready_environment(variant, framework or None)
    running.run(chosen, prefix, remainder())


@task(help={"variant": VARIANT, "framework": FRAMEWORK})
def shell(context: Context, variant: str, framework: str = "") -> None:
    """Open a shell in an environment."""
    from stacks import pipeline, running

    chosen, prefix = pipeline.ready_environment(variant, framework or None)
    running.shell(chosen, prefix)


@task(name="list")
def list_(context: Context) -> None:
    """Show every variant: locked, built, verified, how fast."""
    from stacks import listing, lock
    from stacks.variant import all_variants

    listing.show(lock.and_elsewhere(all_variants()))


@task(
    help={
        "variant": "only this one, on every framework",
        "framework": "only on this one",
        "channel": CHANNEL + "; its locks lie beside our own, and --check covers them",
        "check": "change nothing; fail where a committed lock is stale, and say what changed",
    }
)
def lock(
    context: Context, variant: str = "", framework: str = "", channel: str = "", check: bool = False
) -> None:
    """Solve the variants and write their locks (envs/locks)."""
    from stacks import lock, pipeline
    from stacks.variant import select

    chosen = select(variant, framework)
    if check:
        pipeline.check_locks(lock.and_elsewhere(chosen))
    elif channel:
        from stacks import foreign

        foreign.relock(chosen, channel)
    else:
        pipeline.relock(chosen)


@task(help={"check": "change nothing; fail where the archives offer something else by now"})
def pin(context: Context, check: bool = False) -> None:
    """Pin the sources anew and show what changed."""
    from stacks import pinning

    pinning.pin(check=check)


@task(help={"port": "where to listen on this machine (default: 8420, as the locks say)"})
def serve(context: Context, port: int = 8420) -> None:
    """Serve the channel on this machine for conda clients."""
    from stacks import serving

    serving.serve(port)


@task(
    help={
        "variant": "only this one's environments and reports (default: all of build/)",
        "cache": "also what was fetched and built (THEANO_STACKS_CACHE)",
    }
)
def clean(context: Context, variant: str = "", cache: bool = False) -> None:
    """Remove environments and reports; --cache: all else too."""
    from stacks import listing
    from stacks.variant import select

    listing.clean(select(variant) if variant else None, cache=cache)


@task(
    help={
        "unit": "only the unit tests (no network, seconds)",
        "integration": "only the integration tests (real channel, real environments)",
        "keyword": "only the tests whose names match, as in pytest -k",
    }
)
def test(
    context: Context, unit: bool = False, integration: bool = False, keyword: str = ""
) -> None:
    """Check this project: style, types, unit, integration."""
    from stacks import developer

    developer.test(unit=unit, integration=integration, keyword=keyword)


@task(help={"check": "change nothing; fail where a committed schema is stale"})
def schema(context: Context, check: bool = False) -> None:
    """Write the JSON schemas of the YAML files in envs/."""
    from stacks import schema

    if check:
        schema.check()
    else:
        schema.write()


def _on(channel: str, variant: str) -> str:
    """Return the name of a variant with the packages of a channel; its own where none is given."""
    if not channel:
        return variant
    from stacks.condarc import place_of

    return f"{variant}@{place_of(channel).label}"


def _path(text: str) -> Path | None:
    return Path(text).expanduser().absolute() if text else None
