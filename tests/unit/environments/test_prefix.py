from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.environments import prefix
from stacks.environments.folders import READY
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

LOCK = Lock(packages=(), requirements=(), sha256="0" * 64, sealed="", seal="")


def test_what_an_environment_is_named_after(workspace: Workspace, variant: Variant) -> None:
    place = Path("/a")
    keys = {
        prefix.key_of(workspace, variant, LOCK, place),
        prefix.key_of(workspace, variant, LOCK, Path("/b")),
        prefix.key_of(workspace, variant, dataclasses.replace(LOCK, sha256="1" * 64), place),
        prefix.key_of(workspace, variant.model_copy(update={"flags": {"x": "y"}}), LOCK, place),
    }
    assert len(keys) == 4
    assert prefix.key_of(workspace, variant, LOCK, place) in keys


@pytest.mark.parametrize("marker", [None, b"", b"[]", b"null", b'{"key": 1}', b"\xff"])
def test_an_environment_is_not_ready_without_its_marker(
    workspace: Workspace, marker: bytes | None, variant: Variant, tmp_path: Path
) -> None:
    if marker is not None:
        (tmp_path / READY).parent.mkdir(parents=True)
        (tmp_path / READY).write_bytes(marker)
    assert not prefix.is_ready(workspace, variant, LOCK, tmp_path)
