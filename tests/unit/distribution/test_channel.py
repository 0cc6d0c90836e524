"""A published channel: in a folder, in a registry, for Dockerfiles, and signed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from integration.tiny import flip, tree

from stacks.core import digest_list
from stacks.core.disk import sha256_of
from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import channel, signature
from stacks.distribution.signature import check_signature, make_key, private_key, public_key_path
from stacks.image import builder
from stacks.locks.publication import Publication
from stacks.sources.registry import registry_at
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import SOURCE, body, entry, publication, write_packages
from unit.helpers.registry import Registry, running
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
    (folder / builder.DIGESTS).write_text(digest_list.list_folder(folder))


@pytest.fixture
def with_images(found: Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a channel with what Dockerfiles build with."""
    monkeypatch.setattr(builder, "write", write_images)
    channel.publish_to_folder(CHECKOUT, tmp_path / "published", images=True)
    return tmp_path / "published"


def test_what_dockerfiles_build_with_is_listed(
    with_images: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    channel.check_folder(CHECKOUT, with_images)
    parts = "7 files as in the locks, 4 files of image/ as listed, not signed"
    assert capsys.readouterr().out == f"{with_images}: {parts}\n"
    subprocess.run(["sha256sum", "--check", "index.sha256"], cwd=with_images, check=True)
    image = with_images / "image"
    (image / builder.STATIC).chmod(0o644)
    with pytest.raises(IntegrityError, match=r"image/busybox: not executable \(chmod 755\)"):
        channel.check_folder(CHECKOUT, with_images)
    (image / builder.STATIC).chmod(0o755)
    flip(image / builder.BASE)
    with pytest.raises(IntegrityError, match="differs from the locks:\n  - image/base: changed"):
        channel.check_folder(CHECKOUT, with_images)
    (image / builder.DIGESTS).unlink()
    with pytest.raises(IntegrityError, match=r"image/image\.sha256: missing"):
        channel.check_folder(CHECKOUT, with_images)
    (image / "photo").write_text("precious")
    with pytest.raises(UsageError, match="has files that are not of a published"):
        channel.publish_to_folder(CHECKOUT, with_images)
    (image / "photo").unlink()
    channel.publish_to_folder(CHECKOUT, with_images)
    assert not image.exists()


def test_an_older_channels_list_is_without_what_dockerfiles_build_with(with_images: Path) -> None:
    index = with_images / "index.sha256"
    lines = index.read_text().splitlines(keepends=True)
    index.write_text("".join(line for line in lines if "  image/" not in line))
    with pytest.raises(IntegrityError, match="image/busybox: not part of it"):
        channel.check_folder(CHECKOUT, with_images)
    channel.publish_to_folder(CHECKOUT, with_images, images=True)
    channel.check_folder(CHECKOUT, with_images)


@pytest.fixture
def signer(found: Publication, tmp_path: Path) -> tuple[Workspace, Ed25519PrivateKey]:
    """Give a checkout with a public key, and the private one."""
    own = Workspace(tmp_path / "own", tmp_path / "cache")
    own.recipes.mkdir(parents=True)
    signature.make_key(own, tmp_path / "key")
    key = signature.private_key(own, str(tmp_path / "key"))
    shutil.copytree(CHECKOUT.recipes, own.recipes, dirs_exist_ok=True)
    (own.root / "envs").symlink_to(CHECKOUT.envs)
    return own, key


def test_a_signed_channel(
    signer: tuple[Workspace, Ed25519PrivateKey], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, key = signer
    folder = tmp_path / "published"
    channel.publish_to_folder(own, folder, key=key)
    assert "not signed" not in capsys.readouterr().out
    channel.check_folder(own, folder)
    assert capsys.readouterr().out.endswith("as in the locks, signed\n")
    flip(folder / "index.sha256.sig")
    with pytest.raises(IntegrityError, match="no good signature"):
        channel.check_folder(own, folder)


def test_the_signature_is_of_what_dockerfiles_build_with_too(
    signer: tuple[Workspace, Ed25519PrivateKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, key = signer
    monkeypatch.setattr(builder, "write", write_images)
    folder = tmp_path / "published"
    channel.publish_to_folder(own, folder, key=key, images=True)
    channel.check_folder(own, folder)
    flip(folder / "image" / builder.BASE)
    list_images(folder / "image")
    with pytest.raises(IntegrityError, match=r"image/base: changed\n.*image\.sha256: changed"):
        channel.check_folder(own, folder)
    listed = digest_list.parse((folder / "index.sha256").read_text())
    listed |= {name: sha256_of(folder / name) for name in builder.FILES}
    (folder / "index.sha256").write_text(digest_list.text_of(listed))
    with pytest.raises(IntegrityError, match="no good signature"):
        channel.check_folder(own, folder)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with running() as server:
        yield server


def test_a_publication_is_pushed_as_py_rattler_reads_it(server: Registry, tmp_path: Path) -> None:
    made = publication()
    paths = write_packages(made, tmp_path / "files")
    written = channel.written_files(made, b"signature")
    channel.push(registry_at(f"oci+http://{server.host}/me/stacks", "--to"), made, paths, written)
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
    ], "the index comes after what it names"
    assert {body("libopenblas"), body("six"), SOURCE, *written.values()} <= {*server.blobs.values()}
    manifest = json.loads(server.manifests[channel.tag_of(six)])
    package, index = manifest["layers"]
    assert package["digest"] == f"sha256:{six.package.sha256}"
    assert package["mediaType"] == "application/vnd.conda.package.v2"
    assert json.loads(server.blobs[index["digest"]])["name"] == "six"
    assert manifest["annotations"]["org.conda.package.version"] == "1.16.0"
    last = json.loads(server.manifests["latest"])["layers"]
    assert [layer["annotations"]["org.opencontainers.image.title"] for layer in last] == [
        "index.sha256",
        "index.sha256.sig",
    ]
    digest = hashlib.sha256(made.digests.encode()).hexdigest()
    assert last[0]["digest"] == f"sha256:{digest}"


def test_a_tag_has_only_what_tags_may_have() -> None:
    tag = channel.tag_of(entry("six"))
    assert tag.startswith("1.16.0-") and not set(tag) & set("+!=")


DATA = b"a list of digests\n"
PEM, FORM = Encoding.PEM, PrivateFormat.PKCS8


@pytest.fixture
def own(tmp_path: Path) -> Workspace:
    (tmp_path / "checkout/recipes").mkdir(parents=True)
    return Workspace(tmp_path / "checkout", tmp_path / "cache")


@pytest.fixture
def key(own: Workspace, tmp_path: Path) -> Path:
    make_key(own, tmp_path / "private.pem")
    return tmp_path / "private.pem"


def test_a_signature_is_good_for_its_data_alone(own: Workspace, key: Path) -> None:
    signature = private_key(own, str(key)).sign(DATA)
    assert len(signature) == 64
    assert signature == private_key(own, str(key)).sign(DATA), "no chance is part of it"
    check_signature(public_key_path(own), DATA, signature)
    other = bytes([signature[0] ^ 1]) + signature[1:]
    for data, wrong in ((DATA + b"x", signature), (DATA, other), (DATA, b"")):
        with pytest.raises(IntegrityError, match="no good signature"):
            check_signature(public_key_path(own), data, wrong)


def test_openssl_verifies_it(own: Workspace, key: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(DATA)
    (tmp_path / "data.sig").write_bytes(private_key(own, str(key)).sign(DATA))
    words: list[str | Path] = [
        "-rawin",
        "-in",
        tmp_path / "data",
        "-sigfile",
        tmp_path / "data.sig",
    ]
    done = subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public_key_path(own), *words],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"Signature Verified Successfully\n")


def test_a_key_in_a_variable(own: Workspace, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNING_KEY", key.read_text())
    expected = private_key(own, str(key)).sign(DATA)
    assert private_key(own, "env:SIGNING_KEY").sign(DATA) == expected
    assert "SIGNING_KEY" not in os.environ, "programs that build packages do not see it"
    with pytest.raises(UsageError, match="SIGNING_KEY is not a private key"):
        private_key(own, "env:SIGNING_KEY")


def test_only_its_owner_can_read_a_new_key_and_it_replaces_none(
    own: Workspace, key: Path, tmp_path: Path
) -> None:
    assert key.stat().st_mode & 0o777 == 0o600
    before, public = key.read_bytes(), public_key_path(own).read_bytes()
    assert b"PRIVATE" not in public
    with pytest.raises(UsageError, match=r"private\.pem exists"):
        make_key(own, key)
    with pytest.raises(UsageError, match="its folder is missing"):
        make_key(own, tmp_path / "none/private.pem")
    assert (key.read_bytes(), public_key_path(own).read_bytes()) == (before, public)


def test_a_key_that_is_not_the_repositorys_is_refused(
    own: Workspace, key: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.pem"
    key.rename(old)
    make_key(own, key)
    with pytest.raises(UsageError, match=r"old\.pem does not belong to the public key"):
        private_key(own, str(old))
    public_key_path(own).unlink()
    with pytest.raises(UsageError, match="does not belong"):
        private_key(own, str(key))


def test_a_file_that_is_no_such_key_is_refused(own: Workspace, key: Path, tmp_path: Path) -> None:
    loaded = load_pem_private_key(key.read_bytes(), None)
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(PEM, FORM, NoEncryption())
    texts = {
        "no-pem": b"text",
        "empty": b"",
        "public": public_key_path(own).read_bytes(),
        "locked": loaded.private_bytes(PEM, FORM, BestAvailableEncryption(b"password")),
        "other-kind": other,
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        with pytest.raises(UsageError, match=f"{name} is ") as caught:
            private_key(own, str(tmp_path / name))
        assert caught.value.fix and "--new-key" in caught.value.fix
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match=r"No such file|Is a directory"):
            private_key(own, str(path))


def test_without_a_public_key_nothing_is_verified(own: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        check_signature(public_key_path(own), DATA, b"")
    public_key_path(own).write_text("text")
    with pytest.raises(UsageError, match="is not a public key"):
        check_signature(public_key_path(own), DATA, b"")
