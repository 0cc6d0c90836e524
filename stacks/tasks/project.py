"""The project's own checks and schemas."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.task import task


@task(
    help={
        "unit": "unit tests: no network (half a minute)",
        "integration": "real channel, locks, environments, verification (16 min)",
        "images": "images, with and without an engine (2.5 min)",
        "browser": "the page of timings in Chromium (10 s)",
        "faults": "interrupted, damaged and concurrent builds (1 min)",
        "keyword": "the tests whose names match, as in pytest -k",
    },
    protects=("build", "cache"),
)
def test(
    context: Context,
    unit: bool = False,
    integration: bool = False,
    images: bool = False,
    browser: bool = False,
    faults: bool = False,
    keyword: str = "",
) -> None:
    """Check this project: style, types, imports, then all tests, or the named parts.

    Times are of two cores with the sources in the cache.
    """
    from stacks.project import checks

    chosen = {
        "unit": unit,
        "integration": integration,
        "images": images,
        "browser": browser,
        "faults": faults,
    }
    checks.test([part for part, wanted in chosen.items() if wanted], keyword or None)


@task(help={"check": "change nothing; fail where a committed schema is stale"})
def schema(context: Context, check: bool = False) -> None:
    """Write the JSON schemas of the YAML files in envs/."""
    from stacks.project import schemas

    workspace = default_workspace()
    if check:
        schemas.check(workspace)
    else:
        schemas.write(workspace)
