"""The workflows of CI: a job for each variant, nothing untrusted in them, nothing unpinned."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.project import checks
from stacks.project.checks import (
    PARALLEL,
    SLOWEST,
    changed,
    clean_environment,
    commands,
    fault_options,
)
from stacks.variants.load import all_variants, load_variant
from unit.helpers.checkout import git
from unit.helpers.environments import add

WORKFLOWS = REPOSITORY / ".github/workflows"
FILES, ACTION = sorted(WORKFLOWS.iterdir()), REPOSITORY / "action.yml"


def content(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((WORKFLOWS / name).read_text())
    return loaded


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in FILES:
        for name, job in content(path.name)["jobs"].items():
            yield f"{path.name}: {name}", job


def test_the_values_of_each_variants_job(workspace: Workspace) -> None:
    for name, job in (("variants.yml", "variant"), ("release.yml", "image")):
        found = content(name)["jobs"][job]
        assert found["strategy"]["matrix"] == "${{ fromJSON(needs.plan.outputs.matrix) }}"
        assert found["needs"] == "plan"
    every = all_variants(workspace)
    include = checks.matrix(workspace, every, every)["include"]
    assert [f"{row['framework']}/{row['flavour']}" for row in include] == [v.id for v in every]
    variants = [load_variant(workspace, name, "theano-1.0.5") for name in ("mkl", "pip-default")]
    first, second = checks.matrix(workspace, all_variants(workspace), variants)["include"]
    assert first == {
        "framework": "theano-1.0.5",
        "flavour": "mkl",
        "baseline": "pip-default",
        "image": "theano-mkl",
        "tags": "1.0.5 latest",
        "device": "cpu",
        "publish": "on request",
        "runner": "ubuntu-24.04",
    }
    assert second["baseline"] == second["flavour"] == "pip-default"


def test_an_image_is_published_as_its_strictest_package(workspace: Workspace) -> None:
    every = all_variants(workspace)
    jobs = checks.matrix(workspace, every, every)["include"]
    terms = {(job["framework"], job["flavour"]): job["publish"] for job in jobs}
    assert [each for each in terms if terms[each] == "no"] == [("theano-1.0.5", "gpuarray-cuda")]
    on_request = {each for each in terms if terms[each] == "on request"}
    assert {flavour for _, flavour in on_request if flavour.startswith("mkl")} == {
        "mkl",
        "mkl-amdlibm",
    }
    # Its SciPy carries an old libgfortran, whose source nobody pinned.
    assert {framework for framework, flavour in on_request if not flavour.startswith("mkl")} == {
        "theano-0.8.2"
    }
    assert terms["theano-1.0.5", "openblas"] == terms["theano-0.8.2", "pip-default"] == "yes"


@pytest.mark.parametrize(
    "words",
    [
        ["check_jsonschema", "--builtin-schema", "vendor.github-workflows", *FILES],
        ["check_jsonschema", "--builtin-schema", "vendor.github-actions", ACTION],
        ["zizmor", "--offline", "--no-config", "--persona=auditor", "--quiet", *FILES, ACTION],
    ],
)
def test_the_services_schema_and_an_audit_find_nothing(words: list[str | Path]) -> None:
    program = [sys.executable, "-m"] if words[0] != "zizmor" else []
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    done = subprocess.run([*program, *words], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "job"), list(jobs()))
def test_a_job_has_few_permissions_and_a_timeout(name: str, job: dict[str, Any]) -> None:
    assert content(name.partition(":")[0])["permissions"] == {}
    assert job["permissions"] and job["timeout-minutes"] <= 60


def test_only_a_release_and_the_issue_of_the_sources_write() -> None:
    writing = {name: job for name, job in jobs() if "write" in job["permissions"].values()}
    assert writing.keys() == {
        "alive.yml: issue",
        "channel.yml: publish",
        "channel.yml: release",
        "release.yml: files",
        "release.yml: image",
        "release.yml: tags",
        "variants.yml: page",
    }
    # YAML 1.1 reads the key `on` as true.
    assert content("channel.yml")[True] == {"push": {"tags": ["v*"]}, "workflow_dispatch": None}
    assert content("release.yml")[True] == {"push": {"tags": ["v*"]}}
    assert writing["alive.yml: issue"]["permissions"] == {"issues": "write"}
    # What may open issues or add to the repository runs no code of the checkout.
    built = {"channel.yml: publish", "release.yml: files", "release.yml: image"}
    for name in writing.keys() - built:
        assert not any("checkout" in step.get("uses", "") for step in writing[name]["steps"]), name


def test_a_fresh_fork_needs_no_setting() -> None:
    """No workflow uses a secret or variable without a default, unless empty means unset."""
    empty_means_unset = {"DEBIAN_MIRROR", "DEBIAN_SNAPSHOT_MIRROR", "THEANO_STACKS_CHANNEL"}
    for path in FILES:
        for expression in re.findall(r"\$\{\{(.*?)\}\}", path.read_text()):
            for name in re.findall(r"\b(?:vars|secrets)\.(\w+)", expression):
                assert name in empty_means_unset or "||" in expression, f"{path.name}: {name}"


FRAMEWORKS = (
    *("aesara-2.8.7", "pytensor-2.38.3", "pytensor-3.3.7"),
    *("theano-0.8.2", "theano-1.0.5", "theano-pymc-1.1.2"),
)
SAMPLE = [f"{framework}/openblas" for framework in FRAMEWORKS]


@pytest.fixture
def checkout(tmp_path: Path) -> Workspace:
    """A checkout with one commit of one file."""
    git(tmp_path, "init", "--initial-branch", "main")
    (tmp_path / "README.md").write_text("one\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "one")
    return Workspace(root=tmp_path, cache=tmp_path / "cache")


def concerned(checkout: Workspace, workspace: Workspace, *paths: str) -> list[str]:
    """Return the variants that a commit of some files concerns."""
    for path in paths:
        add(checkout.root, path, "changed\n")
    git(checkout.root, "add", ".")
    git(checkout.root, "commit", "-m", "two")
    return [v.id for v in changed(checkout, all_variants(workspace), "HEAD^1")]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", []),
        ("docs/guides/images.md", []),
        ("results/a/b.json", []),
        ("envs/locks/index.sha256", []),
        ("envs/locks/theano-1.0.5/mkl/conda-lock.yml", ["theano-1.0.5/mkl"]),
        ("docker/Dockerfile", SAMPLE),
        ("envs/locks/theano-1.0.5/of-old/sizes.json", []),
        ("envs/blas/blis.yaml", SAMPLE),
        ("stacks/core/disk.py", SAMPLE),
        ("of a later day", SAMPLE),
    ],
)
def test_the_variants_that_a_file_concerns(
    checkout: Workspace, workspace: Workspace, path: str, expected: list[str]
) -> None:
    assert concerned(checkout, workspace, path) == expected


def test_a_removed_and_a_renamed_file_count(checkout: Workspace, workspace: Workspace) -> None:
    lock = "envs/locks/theano-1.0.5/mkl/sizes.json"
    concerned(checkout, workspace, lock)
    git(checkout.root, "mv", lock, "docs.yaml")
    names = {v.name for v in changed(checkout, all_variants(workspace), "HEAD")}
    assert names == {"mkl", "openblas"}


@pytest.mark.parametrize("since", ["HEAD^1", "--output=x", "of nowhere", ""])
def test_what_is_no_commit(checkout: Workspace, workspace: Workspace, since: str) -> None:
    with pytest.raises(UsageError, match="not a commit of this checkout") as error:
        changed(checkout, all_variants(workspace), since)
    assert "git fetch --deepen 1" in str(error.value.fix)
    assert not (checkout.root / "x").exists()


PYTEST = [sys.executable, "-m", "pytest"]
UNIT = [*PYTEST, "-n", "4", "tests/unit"]


def integration(*options: str) -> list[str]:
    return [*PYTEST, *PARALLEL, *SLOWEST, *options, "tests/integration"]


def faults(trials: int, seed: int, *more: str) -> list[str]:
    numbers = ["--fault-trials", str(trials), "--fault-seed", str(seed)]
    return [*PYTEST, "-n", "2", *numbers, *more, "tests/faults"]


def test_all_checks_run_in_order_without_a_choice() -> None:
    every = list(commands((), None, ()))
    tools = [words[2] if words[1] == "-m" else Path(words[0]).name for words in every[:-3]]
    assert tools == ["ruff", "ruff", "codespell_lib", "mypy", "lint-imports"]
    assert every[-3:] == [UNIT, integration("-m", "not slow"), faults(40, 1)]
    assert list(commands((), None, (), slow=True))[-3:] == [UNIT, integration(), faults(40, 1)]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (("unit", None, ()), [UNIT]),
        (("images browser", None, ()), [integration("-m", "images or browser")]),
        (("integration", None, ()), [integration("-m", "not (images or browser or examples)")]),
        (("browser integration", None, ()), [integration("-m", "not (images or examples)")]),
        (("", "lock", ()), [[*PYTEST, "-k", "lock", "tests/unit", "tests/integration"]]),
        (("unit", "lock", ()), [[*PYTEST, "-k", "lock", "tests/unit"]]),
        (("unit", None, fault_options(1000, 3)), [UNIT, faults(1000, 3)]),
        (("", None, fault_options(1, 3, 17)), [faults(1, 3, "--fault-trial", "17")]),
    ],
)
def test_a_choice_of_tests(choice: tuple[str, Any, Any], expected: list[list[str]]) -> None:
    parts, keyword, trials = choice
    assert list(commands(parts.split(), keyword, trials)) == expected


def test_tests_see_only_the_variables_that_the_readme_names() -> None:
    seen = {"PATH": "/bin", "PIP_INDEX_URL": "file:///index", "THEANO_STACKS_CACHE": "/cache"}
    hidden = {"OPENBLAS_CORETYPE": "Haswell", "THEANO_FLAGS": "device=cuda"}
    assert clean_environment(seen | hidden) == seen
