"""What an edit of a shared file does on each file system, as docs/explanation/promises.md says."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.programs import called
from integration.tiny import Tiny
from stacks.environments.make import build as pipeline

MAKERS = {"btrfs": ("mkfs.btrfs", "-q"), "xfs": ("mkfs.xfs", "-q"), "ext4": ("mkfs.ext4", "-q")}
SIZE = 400 << 20
EDITED = "lib/python2.7/os.py"


@pytest.fixture
def file_system(kind: str, tmp_path: Path) -> Iterator[Path]:
    """Give a folder on a new file system of the kind, in a file."""
    maker = MAKERS[kind]
    if os.geteuid() or not shutil.which(maker[0]):
        pytest.skip(f"no {kind} to test on: only root with {maker[0]} can make one")
    image, folder = tmp_path / "image", tmp_path / "mounted"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(SIZE)
    subprocess.run([*maker, image], check=True, capture_output=True)
    mounted = called(["mount", "-o", "loop", image, folder])
    if mounted.returncode:
        pytest.skip(f"no {kind} to test on: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(("kind", "shares"), [("btrfs", False), ("xfs", False), ("ext4", True)])
def test_where_an_edit_in_an_environment_reaches(
    kind: str, shares: bool, file_system: Path, tiny_model: Tiny
) -> None:
    shutil.copytree(tiny_model.root, file_system / "tiny")
    tiny = Tiny(file_system / "tiny")
    first = tiny.make("by-conda")
    second = pipeline.make_environment(
        tiny.workspace, tiny.variant("by-conda"), file_system / "second"
    )
    [cached] = tiny.cache.glob(f"unpacked/*/{EDITED}")
    sound = cached.read_bytes()
    edited = first / EDITED
    if shares:
        assert edited.stat().st_mode & 0o222 == 0
    edited.chmod(0o644)
    edited.write_bytes(sound + b"# edited\n")
    assert ((second / EDITED).read_bytes() != sound) == shares
    assert (cached.read_bytes() != sound) == shares
    # Whatever the edit reached, a repair and the next environment are as the packages say.
    pipeline.make_environment(
        tiny.workspace, tiny.variant("by-conda"), file_system / "second", repair=True
    )
    third = pipeline.make_environment(
        tiny.workspace, tiny.variant("by-conda"), file_system / "third"
    )
    assert (second / EDITED).read_bytes() == (third / EDITED).read_bytes() == sound
