"""The front door: one short task for each command; the work is done in stacks/."""

from __future__ import annotations

from pathlib import Path

from invoke.context import Context

from stacks.front import remainder, task

VARIANT = "a file of envs/variants by its name: see ./invoke list"
FRAMEWORK = "a file of envs/frameworks by its name (default: theano-1.0.5)"
FULL = "also the long timings: check_blas at 5000"
JSON = "write the report as JSON to this file, too"


@task(help={"variant": VARIANT, "framework": FRAMEWORK, "full": FULL, "json": JSON})
def build(
    context: Context, variant: str, framework: str = "", full: bool = False, json: str = ""
) -> None:
    """Make a variant's environment, verify it, print the table."""
    from stacks import pipeline, verification
    from stacks.variant import load_variant

    chosen = load_variant(variant, framework or None)
    prefix = pipeline.make_environment(chosen)
    verification.verify_variant(chosen, prefix, full=full, json_file=_path(json))


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
    from stacks import recommend
    from stacks.variant import on_framework

    recommend.recommend(on_framework(framework or None), rounds)


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
    from stacks import listing
    from stacks.variant import all_variants

    listing.show(all_variants())


@task(
    help={
        "variant": "only this one, on every framework",
        "check": "change nothing; fail where a committed lock is stale, and say what changed",
    }
)
def lock(context: Context, variant: str = "", check: bool = False) -> None:
    """Solve the variants and write their locks (envs/locks)."""
    from stacks import pipeline
    from stacks.variant import select

    if check:
        pipeline.check_locks(select(variant))
    else:
        pipeline.relock(select(variant))


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


def _path(text: str) -> Path | None:
    return Path(text).expanduser().absolute() if text else None
