"""Folders that have the same bytes everywhere, and the record of the layers that they are."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from stacks.core.reproducible import EPOCH
from stacks.image import layout, packing


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
    packing.write(root, out)
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
        packing.normalise(root, {"home": 0o775})
    assert packed(one) == packed(other)


def test_an_archive_keeps_programs_links_and_modes_and_belongs_to_root(tmp_path: Path) -> None:
    make(tmp_path / "root", ["b/a.txt"])
    packing.normalise(tmp_path / "root", {"home": 0o1777})
    with tarfile.open(fileobj=io.BytesIO(packed(tmp_path / "root"))) as tar:
        found = {entry.name: entry for entry in tar}
    assert list(found) == ["b", "b/a.txt", "b/program", "home", "link"]
    assert (found["b/program"].mode, found["b/a.txt"].mode) == (0o755, 0o644)
    assert (found["home"].mode, found["b"].mode) == (0o1777, 0o755)
    assert (found["link"].issym(), found["link"].linkname) == (True, "b/program")
    assert {(entry.uid, entry.gid, entry.mtime) for entry in found.values()} == {(0, 0, EPOCH)}


def test_a_hard_link_into_the_cache_is_not_touched_where_it_is_right_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    packing.normalise(tmp_path)
    changed: list[object] = []
    monkeypatch.setattr(os, "utime", lambda path, *_, **__: changed.append(path))
    monkeypatch.setattr(Path, "chmod", lambda path, _: changed.append(path))
    packing.normalise(tmp_path)
    assert changed == []


@pytest.fixture
def sealed(tmp_path: Path) -> layout.Layers:
    """Give two layers with a folder of the same name."""
    for name in ("packages", "settings"):
        (tmp_path / name / "opt/bin").mkdir(parents=True)
        (tmp_path / name / "opt/bin/file").touch()
        (tmp_path / name / "opt/link").symlink_to("nowhere")
    return layout.seal(tmp_path, "key")


def test_layers_are_read_as_they_were_sealed(sealed: layout.Layers) -> None:
    assert layout.read(sealed.folder) == sealed
    assert sealed.folders == {n: sealed.folder / n for n in ("packages", "settings")}
    archive = packed(sealed.folder / "settings")
    assert sealed.digests["settings"] == f"sha256:{hashlib.sha256(archive).hexdigest()}"


@pytest.mark.parametrize("name", ["packages/opt/bin/file", "settings/opt/bin", "settings/opt"])
def test_a_changed_mode_of_any_layer_is_seen(sealed: layout.Layers, name: str) -> None:
    (sealed.folder / name).chmod(0o700)
    assert layout.read(sealed.folder) is None


@pytest.mark.parametrize("text", [None, "", "[]", '{"key": "key"}', '{"key": 1, "digests": 2}'])
def test_a_damaged_record_is_of_no_layers(sealed: layout.Layers, text: str | None) -> None:
    (sealed.folder / layout.RECORD).unlink()
    if text is not None:
        (sealed.folder / layout.RECORD).write_text(text)
    assert layout.read(sealed.folder) is None
