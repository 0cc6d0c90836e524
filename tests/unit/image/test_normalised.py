from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from stacks.core.disk import fixed_umask
from stacks.core.reproducible import EPOCH
from stacks.image import normalised


def make(root: Path, names: list[str]) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (root / "b" / "program").write_text("#!/bin/sh\n")
    (root / "b" / "program").chmod(0o700)
    (root / "link").symlink_to("b/program")
    (root / "home").mkdir(mode=0o700)


def packed(root: Path) -> bytes:
    out = io.BytesIO()
    normalised.write(root, out)
    return out.getvalue()


def test_the_same_files_give_the_same_archive_whatever_umask_clock_and_order(
    tmp_path: Path,
) -> None:
    one, other = tmp_path / "one", tmp_path / "a b" / "other"
    names = ["a.txt", "b/c.txt", "b-c.txt"]
    make(one, names)
    before = os.umask(0o077)
    try:
        make(other, names[::-1])
    finally:
        os.umask(before)
    os.utime(other / "a.txt", (1, 1))
    for root in (one, other):
        normalised.normalise(root, {"home": 0o775})
    assert packed(one) == packed(other)


def test_an_archive_keeps_programs_links_and_modes_and_belongs_to_root(tmp_path: Path) -> None:
    make(tmp_path / "root", ["b/a.txt"])
    normalised.normalise(tmp_path / "root", {"home": 0o1777})
    with tarfile.open(fileobj=io.BytesIO(packed(tmp_path / "root"))) as archive:
        found = {entry.name: entry for entry in archive}
    assert list(found) == ["b", "b/a.txt", "b/program", "home", "link"]
    assert (found["b/program"].mode, found["b/a.txt"].mode) == (0o755, 0o644)
    assert (found["home"].mode, found["b"].mode) == (0o1777, 0o755)
    assert (found["link"].issym(), found["link"].linkname) == (True, "b/program")
    assert {(entry.uid, entry.gid, entry.mtime) for entry in found.values()} == {(0, 0, EPOCH)}


def test_a_hard_link_into_the_cache_is_not_touched_where_it_is_right_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    normalised.normalise(tmp_path)
    changed: list[object] = []
    monkeypatch.setattr(os, "utime", lambda path, *_, **__: changed.append(path))
    monkeypatch.setattr(Path, "chmod", lambda path, _: changed.append(path))
    normalised.normalise(tmp_path)
    assert changed == []


def test_the_users_umask_comes_back(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with fixed_umask():
            (tmp_path / "file").touch()
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644
