"""The project's own checks and schemas."""

from __future__ import annotations

from invoke.context import Context

from stacks.core.workspace import default_workspace
from stacks.tasks.task import task


@task(
    help={
        "unit": "only the unit tests (no network, seconds)",
        "integration": "only the integration tests (real channel, real environments)",
        "keyword": "only the tests whose names match, as in pytest -k",
    },
    protects=("build", "cache"),
)
def test(
    context: Context, unit: bool = False, integration: bool = False, keyword: str = ""
) -> None:
    """Check this project: style, types, unit, integration."""
    from stacks.project import checks

    checks.test(unit=unit, integration=integration, keyword=keyword)


@task(help={"check": "change nothing; fail where a committed schema is stale"})
def schema(context: Context, check: bool = False) -> None:
    """Write the JSON schemas of the YAML files in envs/."""
    workspace = default_workspace()
    from stacks.project import schemas

    if check:
        schemas.check(workspace)
    else:
        schemas.write(workspace)
