"""The project's own checks: style, types, imports, tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.process import quoted, run_attached
from stacks.core.venv import CLUSTER_LOCK, LOCKING_LOCK, RELEASE_LOCK, TEST_LOCK, prepare_tools

# At most four: each may hold environments' files and a compiler's memory at once. The tests come
# in the order that tests/integration/conftest.py gives them.
PARALLEL = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadscope", "--no-loadscope-reorder"]
# What to make faster next.
SLOWEST = ["--durations", "30", "--durations-min", "20"]
# Unit tests wait for processes more than they compute.
UNIT_PARALLEL = ["-n", "4"]
# Two: a trial uses one core all the time.
TRIALS_PARALLEL = ["-n", "2"]
# How many trials `./invoke test` has, and their seed: fixed, so that a failure is the change's own
# and anybody sees the same one. Other seeds are for a person who looks for new faults.
TRIALS, SEED = 40, 1
# Parts of tests/integration that have a marker of their own.
MARKED = ("images", "browser", "examples")
# The marker of tests that are too long for every change, by tests/integration/slow.py.
SLOW = "slow"
PARTS = ("unit", "integration", *MARKED)
# What the tests may know of the machine, and nothing else.
KEPT_VARIABLES = frozenset(
    [
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "CI",
        "DOCKER_HOST",
        "THEANO_STACKS_CACHE",
        "THEANO_STACKS_LEAST_RATE",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
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


@dataclass(frozen=True)
class Trials:
    """The trials of the fault injector: how many, of which seed; or only the one of a number."""

    count: int = TRIALS
    seed: int = SEED
    number: int | None = None

    @property
    def options(self) -> list[str]:
        """The options of tests/faults/conftest.py."""
        options = ["--fault-trials", str(self.count), "--fault-seed", str(self.seed)]
        return options + ([] if self.number is None else ["--fault-trial", str(self.number)])


class CheckError(StacksError):
    """One of the project's own checks failed; its output stands above."""


def test(
    parts: Collection[str] = (),
    keyword: str | None = None,
    trials: Trials | None = None,
    *,
    slow: bool = False,
) -> None:
    """Run the checks in order and stop at the first that fails.

    With `parts` (of PARTS), `keyword` or `trials`, only the tests that they choose are run. slow:
    without a choice, run the slow tests, too. Raises CheckError naming the command that failed.
    """
    for lock in (LOCKING_LOCK, CLUSTER_LOCK, RELEASE_LOCK, TEST_LOCK):
        prepare_tools(Path(sys.prefix), lock)
    environment = clean_environment(os.environ)
    for command in commands(parts, keyword, trials, slow=slow):
        print(f"+ {quoted(command)}", file=sys.stderr, flush=True)
        status = run_attached(command, cwd=REPOSITORY, env=environment)
        if status != 0:
            raise CheckError(f"failed: {quoted(command)}", found=f"exit status {status}")
    if not (parts or keyword or trials or slow):
        print("the slow tests were left out: ./invoke test --all", file=sys.stderr)


def clean_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the tests may see, so that none depends on this machine."""
    return {
        name: value
        for name, value in variables.items()
        if name in KEPT_VARIABLES or name.startswith("PIP_")
    }


def commands(
    parts: Collection[str], keyword: str | None, trials: Trials | None, *, slow: bool = False
) -> Iterator[list[str]]:
    """Yield the programs to run, with their arguments."""
    python = [sys.executable, "-m"]
    everything = not (parts or keyword or trials)
    if everything:
        yield [*python, "ruff", "check"]
        yield [*python, "ruff", "format", "--check"]
        yield [*python, "codespell_lib"]
        yield [*python, "mypy"]
        yield [str(Path(sys.prefix) / "bin/lint-imports"), "--no-cache"]
    chosen = [part for part in PARTS if part in parts or everything]
    marks = [part for part in chosen if part != "unit"]
    folders = [
        *(["tests/unit"] if "unit" in chosen else []),
        *(["tests/integration"] if marks else []),
    ]
    if keyword:
        folders = folders or ["tests/unit", "tests/integration"]
        yield [*python, "pytest", "-k", keyword, *folders]
        return
    if "unit" in chosen:
        yield [*python, "pytest", *UNIT_PARALLEL, "tests/unit"]
    if marks:
        marker = _marker_options(marks) or ([] if slow else ["-m", f"not {SLOW}"])
        options = [*PARALLEL, *SLOWEST, *marker]
        yield [*python, "pytest", *options, "tests/integration"]
    if everything or trials:
        options = (trials or Trials()).options
        yield [*python, "pytest", *TRIALS_PARALLEL, *options, "tests/faults"]


def _marker_options(parts: Collection[str]) -> list[str]:
    """Return pytest's option that selects parts of tests/integration."""
    if "integration" not in parts:
        return ["-m", " or ".join(parts)]
    others = [mark for mark in MARKED if mark not in parts]
    return ["-m", f"not ({' or '.join(others)})"] if others else []
