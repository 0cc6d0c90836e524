from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from stacks.channel.package import Digests
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.digests import check_unchanged, digests_of

NAME = "small-1.0-py_0.conda"
LOCKED = "a" * 64


@pytest.fixture
def locked(tmp_path: Path) -> Workspace:
    """Give a workspace with one lock, of one package."""
    workspace = Workspace(tmp_path, tmp_path / "cache")
    write_lock(workspace.locks / "tiny/by-conda")
    return workspace


def write_lock(folder: Path) -> None:
    url = f"https://example.invalid/noarch/{NAME}"
    package = LockedPackage("small", "1.0", "py_0", url, sha256=LOCKED, md5="b" * 32)
    folder.mkdir(parents=True)
    conda_lock.write(
        folder / conda_lock.NAME, [package], "https://example.invalid", lambda sealed: "0" * 64
    )


def test_the_digests_are_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    data = bytes(range(256)) * 10_000
    path.write_bytes(data)
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    assert digests_of(path) == Digests(hashlib.sha256(data).hexdigest(), md5, len(data))


def test_other_bytes_under_a_locked_name_are_refused(locked: Workspace) -> None:
    check_unchanged(locked, {NAME: Digests(LOCKED, "", 1), "other.conda": Digests("d" * 64, "", 1)})
    with pytest.raises(IntegrityError) as caught:
        check_unchanged(locked, {NAME: Digests("c" * 64, "", 1)})
    lock = locked.locks / "tiny/by-conda/conda-lock.yml"
    assert caught.value.what == f"{NAME} of {lock} has other bytes in the cache than in the lock"
    assert (caught.value.expected, caught.value.found) == (f"sha256 {LOCKED}", f"sha256 {'c' * 64}")


def test_a_lock_that_cannot_be_read_is_written_again(locked: Workspace) -> None:
    (locked.locks / "tiny/by-conda/conda-lock.yml").write_text("{")
    check_unchanged(locked, {NAME: Digests("c" * 64, "", 1)})


def test_locks_of_other_channels_name_other_packages(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tmp_path / "cache")
    write_lock(workspace.locks / "tiny/mkl@other")
    check_unchanged(workspace, {NAME: Digests("c" * 64, "", 1)})
