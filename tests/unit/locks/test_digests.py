from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from stacks.channel.locked_package import Digests
from stacks.channel.package import Built
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.locks.update import check_unchanged, digests_of, known_packages
from unit.locks.test_conda_lock import FILE, PACKAGE, written


def write_lock(folder: Path) -> None:
    folder.mkdir(parents=True)
    written(folder)
    (folder / "sizes.json").write_text(f'{{"{FILE}": 7}}')


def test_the_digests_are_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    data = bytes(range(256)) * 10_000
    path.write_bytes(data)
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    assert digests_of(path) == Digests(hashlib.sha256(data).hexdigest(), md5, len(data))


def test_other_bytes_under_a_locked_name_are_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tmp_path / "cache")
    write_lock(workspace.locks / "tiny/by-conda")
    # Of another channel, and one that cannot be read, and so is written again.
    write_lock(workspace.locks / "tiny/mkl@there")
    write_lock(workspace.locks / "tiny/by-pip")
    (workspace.locks / "tiny/by-pip/conda-lock.yml").write_text("{")
    known = known_packages(workspace)
    assert known.keys() == {FILE}
    same = Built(tmp_path / FILE, PACKAGE.sha256)
    check_unchanged(known, {FILE: same, "other.conda": Built(tmp_path, "d" * 64)})
    with pytest.raises(IntegrityError, match=f"{FILE}: built from its sources") as caught:
        check_unchanged(known, {FILE: Built(tmp_path / FILE, "c" * 64)})
    assert (caught.value.expected, caught.value.found) == (
        f"sha256 {PACKAGE.sha256}", f"sha256 {'c' * 64}"
    )  # fmt: skip
    assert caught.value.fix and "raise the `revision`" in caught.value.fix
