"""Locks as conda-lock reads them, and the changes that `lock --check` reports."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from integration.tiny import Tiny
from stacks.channel.offers import read_channel
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace, default_workspace
from stacks.locks import lock, solution
from stacks.locks import update as lock_update
from stacks.locks.lock import lock_folder
from stacks.sources.pins import Pins, read_pins, write_pins
from stacks.variants.load import all_variants

VARIANTS = all_variants(default_workspace())


def stale(tiny: Tiny, name: str) -> str:
    with pytest.raises(StaleError) as caught:
        solution.check(tiny.workspace, tiny.variant(name), read_channel(tiny.workspace))
    assert caught.value.fix and "./invoke lock" in caught.value.fix
    return caught.value.what


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


def test_locks_contain_no_path_of_this_machine(workspace: Workspace) -> None:
    for path in workspace.locks.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert not {word for word in ("/home", "/root", "/work", "/tmp") if word in text}


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
    found = stale(tiny, "by-conda")
    assert message in found and "pip: locked" not in found


def test_a_changed_pin(workspace: Workspace, tiny: Tiny) -> None:
    def other(pins: Pins) -> Pins:
        files = (
            dataclasses.replace(p, sha256="0" * 64) if p.name == "six" else p for p in pins.files
        )
        return dataclasses.replace(pins, files=tuple(files))

    sources = tiny.workspace.sources_lock
    write_pins(sources, other(read_pins(sources)))
    assert "six-1.16.0-py2.py3-none-any.whl is pinned, and not locked" in stale(tiny, "by-pip")
    message = stale(tiny, "by-conda")
    assert "six: locked is six-1.16.0-py" in message
    assert "setuptools" not in message


def test_relocking_writes_the_same_bytes(tiny: Tiny) -> None:
    before = {path: path.read_bytes() for path in tiny.locks.rglob("*.*")}
    lock_update.relock(tiny.workspace, [tiny.variant(name) for name in ("by-conda", "by-pip")])
    assert {path: path.read_bytes() for path in tiny.locks.rglob("*.*")} == before


def test_all_stale_locks_are_named_at_once(tiny: Tiny) -> None:
    for name in ("wheel-0.37", "setuptools-44"):
        path = tiny.workspace.recipes / name / "recipe.yaml"
        path.write_text(path.read_text().replace("license: MIT", "license: ISC"))
    with pytest.raises(StaleError, match=r"(?s)tiny/by-conda is stale.*tiny/by-pip is stale"):
        lock_update.check_locks(
            tiny.workspace, [tiny.variant(name) for name in ("by-conda", "by-pip")]
        )
