from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
import zstandard

from stacks.core import records
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.sources.mirrors import DIGESTS


def write_list(folder: Path) -> None:
    (folder / DIGESTS).unlink(missing_ok=True)
    (folder / DIGESTS).write_text(records.list_folder(folder))


def make(tmp_path: Path) -> Path:
    """Return a vendored folder with two small files."""
    folder = tmp_path / "carried"
    (folder / "tools").mkdir(parents=True)
    for name in ("one.whl", "two.whl"):
        (folder / "tools" / name).write_text(name)
    write_list(folder)
    return folder


def test_where_no_folder_can_be_vendored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = tmp_path / "letter", tmp_path / "carried"
    path.write_text("dear")
    monkeypatch.chdir(tmp_path)
    for target, archive, message in (
        (path, None, "letter is there and is no vendored folder"),
        (tmp_path, None, "is the folder that you stand in"),
        (folder, folder / "all.tar.zst", "inside the folder that it is made of"),
    ):
        with pytest.raises(UsageError, match=message):
            vendor.vendor(Workspace(tmp_path, tmp_path), [], target, archive=archive)
    assert path.read_text() == "dear" and not folder.exists()


def test_a_link_in_a_files_place_counts_as_changed(tmp_path: Path) -> None:
    folder = make(tmp_path)
    vendor.check(folder)
    (folder / "tools/one.whl").rename(tmp_path / "one.whl")
    (folder / "tools/one.whl").symlink_to(tmp_path / "one.whl")
    with pytest.raises(IntegrityError) as caught:
        vendor.check(folder)
    assert caught.value.what.splitlines()[1:] == ["  - tools/one.whl: changed"]


def test_a_damaged_list_of_digests_shows_no_traceback(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (folder / DIGESTS).write_bytes(b"\xff\x00 no list\n")
    with pytest.raises(IntegrityError, match=r"tools/one\.whl: not part of it"):
        vendor.check(folder)


def test_a_program_stays_one_in_the_archive_and_a_check_names_one_that_does_not(
    tmp_path: Path,
) -> None:
    folder = make(tmp_path)
    program = folder / "channel/image/busybox"
    program.parent.mkdir(parents=True)
    program.touch()
    program.chmod(0o750)
    write_list(folder)
    vendor.check(folder)
    vendor.write_archive(folder, tmp_path / "all.tar.zst")
    with (
        zstandard.open(tmp_path / "all.tar.zst") as data,
        tarfile.open(fileobj=data, mode="r|") as archive,
    ):
        modes = {member.name: member.mode for member in archive}
    assert modes.pop("carried/channel/image/busybox") == 0o755
    assert set(modes.values()) == {0o644}
    program.chmod(0o644)
    with pytest.raises(IntegrityError) as caught:
        vendor.check(folder)
    assert caught.value.what.splitlines()[1:] == [
        "  - channel/image/busybox: not executable (chmod 755)"
    ]


def test_the_archive_depends_on_names_and_bytes_alone(tmp_path: Path) -> None:
    folder, archives = make(tmp_path), []
    for run, (mode, time) in enumerate([(0o644, 1), (0o600, 2_000_000_000)]):
        for path in (folder / "tools").iterdir():
            path.chmod(mode)
            os.utime(path, (time, time))
        vendor.write_archive(folder, tmp_path / f"{run}.tar.zst")
        archives.append((tmp_path / f"{run}.tar.zst").read_bytes())
    assert archives[0] == archives[1]
