"""A published channel: in a folder, signed, with what Dockerfiles build with, and in a registry."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration.tiny import flip, tree

from stacks.core import records
from stacks.core.disk import sha256_of
from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.records import digests_text
from stacks.core.workspace import Workspace
from stacks.distribution import channel, signature
from stacks.image import builder
from stacks.locks.solution import Publication
from stacks.sources.registry import registry_at
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import SOURCE, publication, running, write_packages
from unit.helpers.serving import Site, deb


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publication:
    """Have a small publication in place of that of the committed locks."""
    found = publication()
    paths = write_packages(found, tmp_path / "files")
    monkeypatch.setattr(channel, "publication", lambda *_: found)
    monkeypatch.setattr(channel, "prepare", lambda *_: (found, paths))
    return found


@pytest.fixture
def folder(found: Publication, tmp_path: Path) -> Path:
    channel.publish_to_folder(CHECKOUT, tmp_path / "published")
    return tmp_path / "published"


def test_a_channel_has_packages_index_sources_and_their_digests_whatever_the_umask_is(
    capsys: pytest.CaptureFixture[str], found: Publication, folder: Path, tmp_path: Path
) -> None:
    names = set(records.list_files(folder))
    assert names == {
        *(entry.path for entry in found.entries),
        *(
            f"{subdir}/repodata.json{end}"
            for subdir in ("linux-64", "noarch")
            for end in ("", ".zst")
        ),
        "sources/foo_1.0_amd64.deb",
        "index.sha256",
    }
    assert (folder / "sources/foo_1.0_amd64.deb").read_bytes() == SOURCE
    words = ["sha256sum", "--check", "--strict", "index.sha256"]
    output = subprocess.check_output(words, cwd=folder, text=True)
    assert output.count(": OK") == len(names) - 1
    output = capsys.readouterr().out
    assert "2 packages, " in output and "1 file of sources, " in output
    assert "not signed" in output
    lines = output.splitlines()
    [mkl] = [line for line in lines if line.startswith("left out: mkl (on request: ")]
    assert mkl.endswith("; --include mkl adds it)")
    [cublas] = [line for line in lines if line.startswith("left out: libcublas (no: ")]
    assert "--include" not in cublas
    before = os.umask(0o077)
    try:
        channel.publish_to_folder(CHECKOUT, tmp_path / "again")
    finally:
        os.umask(before)
    assert tree(tmp_path / "again") == tree(folder)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "again").rglob("*")}
    assert modes <= {0o755, 0o644, 0o444}


def test_an_older_channel_is_replaced_and_other_files_are_not(folder: Path, tmp_path: Path) -> None:
    expected = tree(folder)
    with (folder / "index.sha256").open("a") as file:
        file.write(f"{'0' * 64}  noarch/old-1-0.conda\n")
    (folder / "noarch/old-1-0.conda").write_bytes(b"old")
    (folder / "linux-64/repodata.json").unlink()
    channel.publish_to_folder(CHECKOUT, folder)
    assert tree(folder) == expected
    (tmp_path / "a-folder/within").mkdir(parents=True)
    for target, name in (
        (folder, "noarch/my-notes"),
        (tmp_path / "a-folder", "within/file"),
        (tmp_path / "a-file", "a-file"),
    ):
        path = target if target.name == name else target / name
        path.write_text("precious")
        with pytest.raises(UsageError, match="has files that are not of a published") as caught:
            channel.publish_to_folder(CHECKOUT, target)
        assert caught.value.found == name
        assert path.read_text() == "precious"


INDEX = "noarch/repodata.json"


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda folder, package: flip(package), "PATH: changed"),
        (lambda folder, package: package.unlink(), "PATH: missing"),
        (lambda folder, package: flip(folder / INDEX), f"{INDEX}: changed"),
        (lambda folder, package: flip(folder / "index.sha256"), "index.sha256: changed"),
        (lambda folder, _: (folder / "more").symlink_to(folder), "more: not part of it"),
    ],
)
def test_a_check_names_each_difference(
    folder: Path,
    found: Publication,
    damage: Callable[[Path, Path], object],
    line: str,
    capsys: pytest.CaptureFixture[str],
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


def test_a_source_that_is_nowhere_is_named_before_a_package_is_made(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site has one deb, and no source."""
    with pytest.raises(UsageError, match="--include: libcublas, six cannot be included") as refused:
        channel.prepare(workspace, {"six", "libcublas"})
    assert refused.value.expected == "some of: mkl, scipy"
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
    monkeypatch.setattr(channel, "prepare", lambda *_: (found, missing))
    with pytest.raises(OSError, match="no-such-file"):
        channel.publish_to_folder(CHECKOUT, folder)
    assert tree(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "published"]


@pytest.mark.parametrize(
    ("to", "options", "message"),
    [
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


def write_images(_: Workspace, folder: Path) -> None:
    """Write small files in place of what Dockerfiles build with."""
    folder.mkdir()
    for name in (builder.STATIC, builder.BASE, builder.TOOLS):
        (folder / name).write_text(name)
    (folder / builder.STATIC).chmod(0o755)
    list_images(folder)


def list_images(folder: Path) -> None:
    """Write the list of these files that lies beside them."""
    (folder / builder.DIGESTS).unlink(missing_ok=True)
    (folder / builder.DIGESTS).write_text(records.list_folder(folder))


@pytest.mark.usefixtures("found")
def test_what_dockerfiles_build_with_is_listed_and_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own, folder = Workspace(tmp_path / "own", tmp_path / "cache"), tmp_path / "published"
    shutil.copytree(CHECKOUT.recipes, own.recipes)
    (own.root / "envs").symlink_to(CHECKOUT.envs)
    signature.make_key(own, tmp_path / "key")
    key = signature.private_key(own, str(tmp_path / "key"))
    monkeypatch.setattr(builder, "write", write_images)
    channel.publish_to_folder(own, folder, key=key, images=True)
    assert "not signed" not in capsys.readouterr().out
    channel.check_folder(own, folder)
    parts = "7 files as in the locks, 4 files of image/ as listed, signed"
    assert capsys.readouterr().out == f"{folder}: {parts}\n"
    subprocess.run(["sha256sum", "--check", "index.sha256"], cwd=folder, check=True)
    image = folder / "image"
    (image / builder.STATIC).chmod(0o644)
    with pytest.raises(IntegrityError, match=r"image/busybox: not executable \(chmod 755\)"):
        channel.check_folder(own, folder)
    (image / builder.STATIC).chmod(0o755)
    flip(image / builder.BASE)
    list_images(image)
    with pytest.raises(IntegrityError, match=r"image/base: changed\n.*image\.sha256: changed"):
        channel.check_folder(own, folder)
    listed = records.parse_digests((folder / "index.sha256").read_text())
    listed |= {name: sha256_of(folder / name) for name in builder.FILES}
    (folder / "index.sha256").write_text(records.digests_text(listed))
    with pytest.raises(IntegrityError, match="no good signature"):
        channel.check_folder(own, folder)
    channel.publish_to_folder(own, folder)
    assert not image.exists()


def test_the_index_is_pushed_after_what_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    made = publication()
    paths = write_packages(made, tmp_path / "files")
    lists = {"index.sha256.sig": b"signature", "index.sha256": digests_text(made.digests).encode()}
    with running() as server:
        to = registry_at(f"oci+http://{server.host}/me/stacks", "--to")
        channel.push(to, made, paths, lists)
    names = [
        asked.removeprefix("PUT /v2/me/stacks/").replace("/manifests/", ":")
        for asked in server.asked
        if asked.startswith("PUT") and "/manifests/" in asked
    ]
    blas, six = made.entries
    assert names == [
        f"linux-64/libopenblas:{channel.tag_of(blas)}",
        f"noarch/six:{channel.tag_of(six)}",
        "sources:latest",
        "linux-64/repodata.json:latest",
        "noarch/repodata.json:latest",
        "index:latest",
    ]
    last = json.loads(server.manifests["latest"])["layers"]
    titles = [layer["annotations"]["org.opencontainers.image.title"] for layer in last]
    assert titles == ["index.sha256", "index.sha256.sig"]
