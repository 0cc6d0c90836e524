"""The project's own checks and schemas."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.task import task


@task(
    help={
        "unit": "unit tests: no network (UNIT_TIME)",
        "integration": "real channel, locks, environments, verification (INTEGRATION_TIME)",
        "images": "images, with and without an engine (IMAGES_TIME)",
        "browser": "the page of timings in Chromium (BROWSER_TIME)",
        "faults": "interrupted, damaged and concurrent builds (FAULTS_TIME)",
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
    """Check this project: style, types, imports, then all tests, or the parts that are named."""
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
