from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from integration.tiny import flip, tree

from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import channel
from stacks.locks.publication import Publication
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import SOURCE, publication
from unit.helpers.serving import Site, deb


def test_a_channel_has_packages_index_sources_and_their_digests(
    found: Publication, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "published"
    channel.publish_to_folder(CHECKOUT, folder)
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {
        *(entry.path for entry in found.entries),
        "linux-64/repodata.json",
        "linux-64/repodata.json.zst",
        "noarch/repodata.json",
        "noarch/repodata.json.zst",
        "sources/foo_1.0_amd64.deb",
        "index.sha256",
    }
    assert (folder / "sources/foo_1.0_amd64.deb").read_bytes() == SOURCE
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "index.sha256"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": OK") == len(names) - 1
    output = capsys.readouterr().out
    assert "2 packages, " in output and "1 file of sources, " in output
    assert "not signed" in output


def test_what_is_left_out_is_named_with_its_reason(
    found: Publication, capsys: pytest.CaptureFixture[str]
) -> None:
    channel.report(found, None)
    lines = capsys.readouterr().out.splitlines()
    [mkl] = [line for line in lines if line.startswith("left out: mkl (on request: ")]
    assert mkl.endswith("; --include mkl adds it)")
    [cublas] = [line for line in lines if line.startswith("left out: libcublas (no: ")]
    assert "--include" not in cublas


def test_it_is_the_same_whatever_the_umask_is(
    found: Publication, folder: Path, tmp_path: Path
) -> None:
    before = os.umask(0o077)
    try:
        channel.publish_to_folder(CHECKOUT, tmp_path / "again")
    finally:
        os.umask(before)
    assert tree(tmp_path / "again") == tree(folder)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "again").rglob("*")}
    assert modes <= {0o755, 0o644, 0o444}


def test_an_older_channel_is_replaced_and_other_files_are_not(folder: Path) -> None:
    expected = tree(folder)
    with (folder / "index.sha256").open("a") as file:
        file.write(f"{'0' * 64}  noarch/old-1-0.conda\n")
    (folder / "noarch/old-1-0.conda").write_bytes(b"old")
    (folder / "linux-64/repodata.json").unlink()
    channel.publish_to_folder(CHECKOUT, folder)
    assert tree(folder) == expected
    (folder / "noarch/my-notes").write_text("precious")
    with pytest.raises(UsageError, match="has files that are not of a published") as caught:
        channel.publish_to_folder(CHECKOUT, folder)
    assert caught.value.found == "noarch/my-notes"
    assert (folder / "noarch/my-notes").read_text() == "precious"


@pytest.mark.parametrize("place", ["a-file", "a-folder"])
def test_a_place_that_has_other_things_is_refused(
    found: Publication, tmp_path: Path, place: str
) -> None:
    (tmp_path / "a-file").write_text("precious")
    (tmp_path / "a-folder/within").mkdir(parents=True)
    (tmp_path / "a-folder/within/file").write_text("precious")
    with pytest.raises(UsageError, match="choose an empty or new folder"):
        channel.publish_to_folder(CHECKOUT, tmp_path / place)
    assert (tmp_path / "a-file").read_text() == "precious"
    (tmp_path / "empty").mkdir()
    channel.publish_to_folder(CHECKOUT, tmp_path / "empty")
    assert (tmp_path / "empty/index.sha256").is_file()


Damage = Callable[[Path, Path], object]


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda folder, package: flip(package), "PATH: changed"),
        (lambda folder, package: package.unlink(), "PATH: missing"),
        (
            lambda folder, package: flip(folder / "noarch/repodata.json"),
            "noarch/repodata.json: changed",
        ),
        (lambda folder, package: flip(folder / "index.sha256"), "index.sha256: changed"),
        (lambda folder, package: (folder / "noarch/more").touch(), "noarch/more: not part of it"),
        (lambda folder, package: link(package, folder.parent / "files"), "PATH: changed"),
        (
            lambda folder, package: (folder / "noarch/more").symlink_to(folder.parent),
            "noarch/more: not part of it",
        ),
    ],
)
def test_a_check_names_each_difference(
    folder: Path, found: Publication, damage: Damage, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    channel.check_folder(CHECKOUT, folder)
    assert capsys.readouterr().out == f"{folder}: 7 files as in the locks, not signed\n"
    path = found.entries[1].path
    damage(folder, folder / path)
    with pytest.raises(IntegrityError) as caught:
        channel.check_folder(CHECKOUT, folder)
    lines = [text for text in caught.value.what.splitlines() if text.startswith("  - ")]
    assert lines == [f"  - {line.replace('PATH', path)}"]
    assert caught.value.fix == f"publish it again: ./invoke publish-channel --to {folder}"


def link(package: Path, files: Path) -> None:
    """Put a link to the same bytes in the place of a package."""
    package.unlink()
    package.symlink_to(files / package.name)


def test_a_name_that_cannot_be_included_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--include: libcublas, six cannot be included") as caught:
        channel.publish_to_folder(CHECKOUT, tmp_path / "published", include={"six", "libcublas"})
    assert caught.value.expected == "some of: mkl, scipy"
    assert not (tmp_path / "published").exists()


def test_a_source_that_is_nowhere_is_named_before_a_package_is_made(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site has one deb, and no source."""
    monkeypatch.setattr(channel, "publication", lambda *_: publication(deb(b"gone", "/gone.tar")))
    made: list[str] = []

    def make(*_: object) -> dict[str, Path]:
        made.append("packages")
        return {}

    monkeypatch.setattr(channel, "packages_of", make)
    with pytest.raises(FetchError, match=r"gone\.tar.* is not at: ") as caught:
        channel.prepare(workspace, ())
    assert caught.value.fix and "DEBIAN_SNAPSHOT_MIRROR" in caught.value.fix
    assert made == []
    mirror.files["/debian/gone.tar"] = b"gone"
    _, paths = channel.prepare(workspace, ())
    assert made == ["packages"]
    assert paths["sources/gone.tar"].read_bytes() == b"gone"


def test_a_publication_that_ends_early_leaves_the_channel_as_it_was(
    folder: Path, found: Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(folder)
    missing = {found.entries[0].path: tmp_path / "no-such-file"}
    monkeypatch.setattr(channel, "prepare", lambda *_: (replace(found, digests=""), missing))
    with pytest.raises(OSError, match="no-such-file"):
        channel.publish_to_folder(CHECKOUT, folder)
    assert tree(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "published"]


@pytest.mark.parametrize(
    ("to", "options", "message"),
    [
        ("", {}, r"where is the channel to be .*\n  fix: +--to DIR or --to oci://HOST/NAME"),
        ("oci://registry.invalid/stacks", {"check": True}, "--check compares a folder"),
        ("oci://registry.invalid/stacks", {"images": True}, "--images writes to a folder"),
        ("oci://registry.invalid", {}, "--to has an address of a registry"),
        ("FOLDER/published", {"key": "FOLDER/none.pem"}, "No such file"),
        ("FOLDER", {"check": True}, "is no published channel"),
        ("FOLDER/none", {"check": True}, "is no published channel"),
    ],
)
def test_what_is_refused_before_anything_is_built(
    to: str, options: dict[str, Any], message: str, found: Publication, tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if "key" in options:
        options = {"key": options["key"].replace("FOLDER", str(folder))}
    with pytest.raises(UsageError, match=message):
        channel.publish_channel(CHECKOUT, to.replace("FOLDER", str(folder)), **options)
    assert list(folder.iterdir()) == []


def test_a_new_key_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Workspace(tmp_path, tmp_path / "cache")
    own.recipes.mkdir()
    channel.publish_channel(own, "", new_key=tmp_path / "key.pem")
    output = capsys.readouterr().out
    assert "key.pem: keep it secret; " in output and "channel-key.pem: commit it" in output
