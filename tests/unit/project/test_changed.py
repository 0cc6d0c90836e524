"""Which variants a change concerns, in a checkout of git's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.project.changed import changed
from stacks.variants.load import all_variants

SAMPLE = [
    "aesara-2.8.7/openblas",
    "pytensor-2.38.3/openblas",
    "pytensor-3.3.7/openblas",
    "theano-0.8.2/openblas",
    "theano-1.0.5/openblas",
    "theano-pymc-1.1.2/openblas",
]


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)


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
        file = checkout.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("changed\n")
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
        ("envs/blas/blis.yaml", [f"{name.partition('/')[0]}/blis" for name in SAMPLE]),
        ("envs/variants/gpuarray.yaml", ["theano-1.0.5/gpuarray"]),
        ("stacks/core/disk.py", SAMPLE),
        ("verify/suite.py", SAMPLE),
        ("docker/base.yaml", SAMPLE),
        ("docker/content/warm.py", SAMPLE),
        ("of a later day", SAMPLE),
    ],
)
def test_the_variants_that_a_file_concerns(
    checkout: Workspace, workspace: Workspace, path: str, expected: list[str]
) -> None:
    assert concerned(checkout, workspace, path) == expected


def test_a_framework_concerns_all_its_variants(checkout: Workspace, workspace: Workspace) -> None:
    found = concerned(checkout, workspace, "envs/frameworks/theano-0.8.2.yaml", "docs/a.md")
    assert found == [v.id for v in all_variants(workspace) if v.framework.name == "theano-0.8.2"]


def test_a_removed_and_a_renamed_file_count(checkout: Workspace, workspace: Workspace) -> None:
    concerned(checkout, workspace, "envs/variants/mkl.yaml")
    git(checkout.root, "mv", "envs/variants/mkl.yaml", "docs.yaml")
    every = all_variants(workspace)
    found = changed(checkout, every, "HEAD")
    assert {v.name for v in found} == {"mkl", "openblas"}


@pytest.mark.parametrize("since", ["HEAD^1", "--output=x", "of nowhere", ""])
def test_what_is_no_commit(checkout: Workspace, workspace: Workspace, since: str) -> None:
    with pytest.raises(UsageError, match="not a commit of this checkout") as error:
        changed(checkout, all_variants(workspace), since)
    assert "git fetch --deepen 1" in str(error.value.fix)
    assert not (checkout.root / "x").exists()
