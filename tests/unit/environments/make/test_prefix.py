from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from stacks.channel.locked_package import LockedPackage
from stacks.core.workspace import Workspace
from stacks.environments.folders import READY
from stacks.environments.make import prefix
from stacks.environments.make.key import key_of
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

LOCK = Lock(packages=(), requirements=())
PACKAGE = LockedPackage("six", "1", "0", "u/noarch/six-1-0.conda", "1" * 64, "0" * 32, 1)


def test_what_an_environment_is_named_after(workspace: Workspace, variant: Variant) -> None:
    place = Path("/a")
    keys = {
        key_of(workspace, variant, LOCK, place),
        key_of(workspace, variant, LOCK, Path("/b")),
        key_of(workspace, variant, dataclasses.replace(LOCK, packages=(PACKAGE,)), place),
        key_of(workspace, variant.model_copy(update={"flags": {"x": "y"}}), LOCK, place),
    }
    assert len(keys) == 4
    assert key_of(workspace, variant, LOCK, place) in keys


@pytest.mark.parametrize("marker", [None, b"", b"[]", b"null", b'{"key": 1}', b"\xff"])
def test_an_environment_is_not_ready_without_its_marker(
    workspace: Workspace, marker: bytes | None, variant: Variant, tmp_path: Path
) -> None:
    if marker is not None:
        (tmp_path / READY).parent.mkdir(parents=True)
        (tmp_path / READY).write_bytes(marker)
    assert not prefix.is_ready(workspace, variant, LOCK, tmp_path)
