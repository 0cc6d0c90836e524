"""The project's own checks: style, types, imports, tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.process import quoted, run_attached
from stacks.core.venv import CLUSTER_LOCK, TEST_LOCK, prepare_tools

# At most four: each may hold environments' files and a compiler's memory at once. The tests come
# in the order that tests/integration/conftest.py gives them.
PARALLEL = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadscope", "--no-loadscope-reorder"]
# Unit tests wait for processes more than they compute.
UNIT_PARALLEL = ["-n", "4"]
# Parts of tests/integration that have a marker of their own.
MARKED = ("images", "browser", "faults")
PARTS = ("unit", "integration", *MARKED)
# What the tests may know of the machine: what the README names, and nothing else.
KEPT_VARIABLES = frozenset(
    [
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "CI",
        "DOCKER_HOST",
        "THEANO_STACKS_CACHE",
        "XDG_CACHE_HOME",
        "DEBIAN_MIRROR",
        "DEBIAN_SNAPSHOT_MIRROR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_FILE",
    ]
)


class CheckError(StacksError):
    """One of the project's own checks failed; its output stands above."""


def test(parts: Collection[str] = (), keyword: str | None = None) -> None:
    """Run the checks in order and stop at the first that fails.

    With `parts` (of PARTS) or `keyword`, only the tests that they choose are run. Raises
    CheckError naming the command that failed.
    """
    for lock in (CLUSTER_LOCK, TEST_LOCK):
        prepare_tools(Path(sys.prefix), lock)
    environment = clean_environment(os.environ)
    for command in commands(parts, keyword):
        print(f"+ {quoted(command)}", file=sys.stderr, flush=True)
        status = run_attached(command, cwd=REPOSITORY, env=environment)
        if status != 0:
            raise CheckError(f"failed: {quoted(command)}", found=f"exit status {status}")


def clean_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the tests may see, so that none depends on this machine."""
    return {
        name: value
        for name, value in variables.items()
        if name in KEPT_VARIABLES or name.startswith("PIP_")
    }


def commands(parts: Collection[str], keyword: str | None) -> Iterator[list[str]]:
    """Yield the programs to run, with their arguments."""
    python = [sys.executable, "-m"]
    if not (parts or keyword):
        yield [*python, "ruff", "check"]
        yield [*python, "ruff", "format", "--check"]
        yield [*python, "mypy"]
        yield [str(Path(sys.prefix) / "bin/lint-imports"), "--no-cache"]
    chosen = [part for part in PARTS if part in parts] or PARTS
    marks = [part for part in chosen if part != "unit"]
    folders = [
        *(["tests/unit"] if "unit" in chosen else []),
        *(["tests/integration"] if marks else []),
    ]
    if keyword:
        yield [*python, "pytest", "-k", keyword, *folders]
        return
    if "unit" in chosen:
        yield [*python, "pytest", *UNIT_PARALLEL, "tests/unit"]
    if marks:
        yield [*python, "pytest", *PARALLEL, *_marker_options(marks), "tests/integration"]


def _marker_options(parts: Collection[str]) -> list[str]:
    """Return pytest's option that selects parts of tests/integration."""
    if "integration" not in parts:
        return ["-m", " or ".join(parts)]
    others = [mark for mark in MARKED if mark not in parts]
    return ["-m", f"not ({' or '.join(others)})"] if others else []
