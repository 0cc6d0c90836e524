from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from stacks.channel.offers import Channel, Offer
from stacks.channel.package import Built
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock, update
from stacks.variants.load import load_variant


def test_a_lock_has_the_digests_of_the_bytes_and_keeps_them(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = own_workspace.envs.resolve()
    own_workspace.envs.unlink()
    shutil.copytree(envs, own_workspace.envs, ignore=shutil.ignore_patterns("locks"))
    variant = load_variant(own_workspace, "openblas")
    folder = tmp_path / "built"
    folder.mkdir()

    def build(workspace: Workspace, channel: Channel, offers: list[Offer]) -> dict[str, Built]:
        # Nothing that a record beside the file might say is used.
        return {offer.file_name: Built(folder / offer.file_name, "0" * 64) for offer in offers}

    def built(workspace: Workspace, channel: Channel, offers: list[Offer]) -> dict[str, Built]:
        for offer in offers:
            (folder / offer.file_name).write_bytes(offer.file_name.encode())
        return build(workspace, channel, offers)

    monkeypatch.setattr(update, "build_packages", built)
    update.relock(own_workspace, [variant])
    path = own_workspace.locks / "theano-1.0.5/openblas" / conda_lock.NAME
    before = path.read_bytes()
    packages = conda_lock.read(path, "").packages
    for package in packages:
        data = package.file_name.encode()
        assert package.sha256 == hashlib.sha256(data).hexdigest()
        assert package.md5 == hashlib.md5(data, usedforsecurity=False).hexdigest()

    monkeypatch.setattr(update, "build_packages", build)
    (folder / packages[0].file_name).write_bytes(b"changed")
    with pytest.raises(IntegrityError, match=f"{packages[0].file_name} of .* has other bytes"):
        update.relock(own_workspace, [variant])
    assert path.read_bytes() == before
