"""The project's own checks: style, types, tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.process import quoted, run_attached
from stacks.core.venv import prepare_tools

LOCK = REPOSITORY / "requirements-test.lock"
# At most four: each may hold environments' files and a compiler's memory at once. The tests come
# in the order that tests/integration/conftest.py gives them.
PARALLEL = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadscope", "--no-loadscope-reorder"]
# The tests and mypy need what --cluster needs.
CLUSTER = REPOSITORY / "requirements-cluster.lock"


class CheckError(StacksError):
    """One of the project's own checks failed; what it said stands above."""


def test(*, unit: bool = False, integration: bool = False, keyword: str | None = None) -> None:
    """Run the checks in order and stop at the first that fails.

    With `unit`, `integration` or `keyword` only the tests that they choose are run. Raises
    CheckError naming the command that failed.
    """
    for lock in (CLUSTER, LOCK):
        prepare_tools(Path(sys.prefix), lock)
    for command in commands(unit=unit, integration=integration, keyword=keyword):
        print(f"+ {quoted(command)}", file=sys.stderr, flush=True)
        status = run_attached([sys.executable, "-m", *command], cwd=REPOSITORY)
        if status != 0:
            raise CheckError(f"failed: {quoted(command)}", found=f"exit status {status}")


def commands(*, unit: bool, integration: bool, keyword: str | None) -> Iterator[list[str]]:
    """Yield the modules to run, with their arguments."""
    if not (unit or integration or keyword):
        yield ["ruff", "check"]
        yield ["ruff", "format", "--check"]
        yield ["mypy"]
    both = unit == integration
    folders = [
        *(["tests/unit"] if unit or both else []),
        *(["tests/integration"] if integration or both else []),
    ]
    if keyword:
        yield ["pytest", "-k", keyword, *folders]
    else:
        yield from (["pytest", *PARALLEL, folder] for folder in folders)
