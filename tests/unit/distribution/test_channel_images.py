"""A channel with what Dockerfiles build with, and a signed one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from integration.tiny import flip

from stacks.core import digest_list
from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import channel, signature
from stacks.image import builder
from stacks.locks.publication import Publication
from unit.helpers.checkout import CHECKOUT


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
