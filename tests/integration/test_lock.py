"""Locks as conda-lock reads them, and the changes that `lock --check` reports."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from integration.tiny import Tiny
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace, default_workspace
from stacks.locks import lock
from stacks.locks import update as lock_update
from stacks.locks.lock import lock_folder
from stacks.sources.pins import read_pins, write_pins
from stacks.variants.load import all_variants

VARIANTS = all_variants(default_workspace())


# conda-lock's command, for each lock, in a folder of its own: all in one start of Python.
RENDER = """
import os, sys
from conda_lock.conda_lock import main
for path, folder in zip(sys.argv[1::2], sys.argv[2::2]):
    os.mkdir(folder)
    os.chdir(folder)
    kinds = ["--kind", "explicit", "--kind", "env"]
    main(["render", *kinds, "--platform", "linux-64", path], standalone_mode=False)
"""


def test_conda_lock_accepts_every_committed_lock(workspace: Workspace, tmp_path: Path) -> None:
    folders = [tmp_path / variant.id.replace("/", " ") for variant in VARIANTS]
    words: list[str | Path] = []
    for variant, folder in zip(VARIANTS, folders, strict=True):
        words += [lock_folder(workspace, variant) / "conda-lock.yml", folder]
    subprocess.run([sys.executable, "-c", RENDER, *words], check=True, timeout=300)
    for variant, folder in zip(VARIANTS, folders, strict=True):
        explicit, environment = (
            (folder / f"conda-linux-64.{ending}").read_text() for ending in ("lock", "lock.yml")
        )
        for package in lock.read(workspace, variant).packages:
            assert package.url in explicit, variant.id
            line = f"{package.name}={package.version}={package.build}"
            assert line in environment, variant.id


def test_the_committed_locks_and_those_of_the_examples_are_current(workspace: Workspace) -> None:
    examples = lock_update.examples(workspace)
    assert len(examples) >= 7
    lock_update.check_locks(workspace, (*VARIANTS, *examples))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("envs/frameworks/tiny.yaml", "[six ==1.16.0]", "[six]", "six is new"),
        (
            "envs/variants/by-conda.yaml",
            "blas: numpy\n",
            "blas: numpy\nflags: {optimizer: fast_run}\n",
            "asks for other packages or settings",
        ),
        (
            "recipes/wheel-0.37/recipe.yaml",
            "license: MIT",
            "license: ISC",
            "wheel: locked is wheel-0.37.1-py",
        ),
    ],
)
def test_a_changed_file(tiny: Tiny, file: str, old: str, new: str, message: str) -> None:
    path = tiny.root / file
    path.write_text(path.read_text().replace(old, new))
    [found, *_] = stale(tiny)
    assert message in found and "pip: locked" not in found


def stale(tiny: Tiny) -> list[str]:
    """Return what is said of each lock: both are named at once, with the fix."""
    variants = [tiny.variant(name) for name in ("by-conda", "by-pip")]
    with pytest.raises(StaleError) as caught:
        lock_update.check_locks(tiny.workspace, variants)
    assert caught.value.fix and "./invoke lock" in caught.value.fix
    return re.split(r"(?=tiny/by-pip is stale)", caught.value.what)


def test_a_changed_pin(tiny: Tiny) -> None:
    sources = tiny.workspace.sources_lock
    pins = read_pins(sources)
    files = [dataclasses.replace(p, sha256="0" * 64) if p.name == "six" else p for p in pins.files]
    write_pins(sources, dataclasses.replace(pins, files=tuple(files)))
    by_conda, by_pip = stale(tiny)
    assert "six: locked is six-1.16.0-py" in by_conda and "setuptools" not in by_conda
    assert "six-1.16.0-py2.py3-none-any.whl is pinned, and not locked" in by_pip


def test_relocking_writes_the_same_bytes(tiny: Tiny) -> None:
    before = {path: path.read_bytes() for path in tiny.locks.rglob("*.*")}
    lock_update.relock(tiny.workspace, [tiny.variant(name) for name in ("by-conda", "by-pip")])
    assert {path: path.read_bytes() for path in tiny.locks.rglob("*.*")} == before
