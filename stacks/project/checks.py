"""The project's own checks (style, types, imports, tests), and CI's jobs: one for each variant."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from stacks.channel.recipe import read_recipes
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import CommandError, call, quoted, run_attached
from stacks.core.workspace import (
    CLUSTER_LOCK,
    LOCKING_LOCK,
    RELEASE_LOCK,
    TEST_LOCK,
    Workspace,
    prepare_tools,
)
from stacks.image.metadata import config_of
from stacks.locks import lock
from stacks.variants.variant import Variant

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
KEPT_VARIABLES = (
    "PATH", "HOME", "LANG", "TMPDIR", "CI", "DOCKER_HOST", "THEANO_STACKS_CACHE",
    "THEANO_STACKS_LEAST_RATE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "DEBIAN_MIRROR",
    "DEBIAN_SNAPSHOT_MIRROR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "no_proxy", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE",
)  # fmt: skip
RUNNER = "ubuntu-24.04"
# Whether a job's image may be published, the least strict first. Sources are published with the
# channel, so packages that need theirs are no reason against an image.
PUBLISH = ("yes", "on request", "no")
# What no environment and no image depends on.
OTHERS = ("docs", "examples", "measurements", "results", "site", "tests")
# The flavour that stands for all of a framework where code changed.
SAMPLE = "openblas"


def fault_options(trials: int = TRIALS, seed: int = SEED, number: int = -1) -> list[str]:
    """Return the options of tests/faults/conftest.py: the trials of a seed, or one of them."""
    options = ["--fault-trials", str(trials), "--fault-seed", str(seed)]
    return options + ([] if number < 0 else ["--fault-trial", str(number)])


class CheckError(StacksError):
    """One of the project's own checks failed; its output stands above."""


def test(
    parts: Collection[str] = (),
    keyword: str | None = None,
    trials: Sequence[str] = (),
    *,
    slow: bool = False,
) -> None:
    """Run the checks in order and stop at the first that fails.

    With `parts` (of PARTS), `keyword` or `trials` (fault_options), only the tests that they choose
    are run. slow: without a choice, run the slow tests, too. Raises CheckError naming the command
    that failed.
    """
    for requirements in (LOCKING_LOCK, CLUSTER_LOCK, RELEASE_LOCK, TEST_LOCK):
        prepare_tools(requirements)
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
    parts: Collection[str], keyword: str | None, trials: Sequence[str], *, slow: bool = False
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
        options = [*TRIALS_PARALLEL, *(trials or fault_options())]
        yield [*python, "pytest", *options, "tests/faults"]


def _marker_options(parts: Collection[str]) -> list[str]:
    """Return pytest's option that selects parts of tests/integration."""
    if "integration" not in parts:
        return ["-m", " or ".join(parts)]
    others = [mark for mark in MARKED if mark not in parts]
    return ["-m", f"not ({' or '.join(others)})"] if others else []


def matrix(
    workspace: Workspace, every: Sequence[Variant], chosen: Sequence[Variant]
) -> dict[str, list[dict[str, str]]]:
    """Return the matrix of CI's jobs, one for each of the chosen among all variants.

    baseline: the flavour to time it with. image, tags (separated by spaces): its image's name.
    publish: whether the image may be: "yes", "on request" or "no", as its packages. No runner has
    the device cuda. Raises UsageError if a variant is not locked.
    """
    baselines = {v.framework.name: v for v in every if v.baseline}
    republish = _republish(workspace)
    jobs = []
    for variant in chosen:
        image = config_of(workspace, variant)
        baseline = baselines.get(variant.framework.name, variant)
        packages = lock.read(workspace, variant).packages
        terms = [republish.get((each.name, each.version), PUBLISH[0]) for each in packages]
        jobs.append(
            {
                "framework": variant.framework.name,
                "flavour": variant.name,
                "baseline": baseline.name,
                "image": image.repository,
                "tags": " ".join(image.tags),
                "device": variant.device,
                "publish": max(terms, key=PUBLISH.index),
                "runner": RUNNER,
            }
        )
    return {"include": jobs}


def _republish(workspace: Workspace) -> dict[tuple[str, str], str]:
    """Return how the recipes' packages may be republished, by name and version: the strictest."""
    strictest: dict[tuple[str, str], str] = {}
    for recipe in read_recipes(workspace.recipes).values():
        key = recipe.package.name, recipe.package.version
        terms = (recipe.about.republish, strictest.get(key, PUBLISH[0]))
        strictest[key] = max((term for term in terms if term in PUBLISH), key=PUBLISH.index)
    return strictest


def changed(workspace: Workspace, variants: Sequence[Variant], since: str) -> list[Variant]:
    """Return those of the variants that the commits and changes since another commit concern.

    since: a commit of the checkout. A lock selects its variant; what concerns all, as the code,
    selects one flavour of each framework: the others differ in what their locks name. Raises
    UsageError if there is no such commit.
    """
    concerned = {
        variant.id
        for path in _paths(workspace.root, since)
        for variant in _concerned(Path(path), variants)
    }
    return [variant for variant in variants if variant.id in concerned]


def _paths(root: Path, since: str) -> list[str]:
    """Return the paths that differ from a commit, relative to the checkout."""
    git = ("git", "-C", root)
    try:
        # What begins with a dash would be an option.
        commit = call([*git, "rev-parse", "--verify", "--end-of-options", f"{since}^{{commit}}"])
        names = call([*git, "diff", "--name-only", "--no-renames", "-z", commit.strip(), "--"])
    except CommandError as error:
        raise UsageError(
            f"--changed {since}: not a commit of this checkout",
            fix="name another; in a shallow clone: `git fetch --deepen 1` first",
        ) from error
    return [name for name in names.split("\0") if name]


def _concerned(path: Path, variants: Sequence[Variant]) -> Iterator[Variant]:
    """Yield the variants that a file of the project concerns."""
    match path.parts:
        case (name, *_) if name in OTHERS or (len(path.parts) == 1 and path.suffix == ".md"):
            return
        case ("envs", "locks", framework, flavour, *_):
            yield from (v for v in variants if (v.framework.name, v.name) == (framework, flavour))
        case ("envs", "locks", _):
            return
        case _:
            yield from (v for v in variants if v.name == SAMPLE)
