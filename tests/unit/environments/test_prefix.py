from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.environments import prefix
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant, load_variant
from unit.helpers.serving import sha256

LOCK = Lock(packages=(), requirements=(), sha256="0" * 64, sealed="", seal="")


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas", "theano-1.0.5")


def test_what_an_environment_is_named_after(variant: Variant) -> None:
    place = Path("/a")
    keys = {
        prefix.key_of(variant, LOCK, place),
        prefix.key_of(variant, LOCK, Path("/b")),
        prefix.key_of(variant, dataclasses.replace(LOCK, sha256="1" * 64), place),
        prefix.key_of(variant.model_copy(update={"flags": {"x": "y"}}), LOCK, place),
    }
    assert len(keys) == 4
    assert prefix.key_of(variant, LOCK, place) in keys


@pytest.mark.parametrize("marker", [None, b"", b"[]", b"null", b'{"key": 1}', b"\xff"])
def test_an_environment_is_not_ready_without_its_marker(
    marker: bytes | None, variant: Variant, tmp_path: Path
) -> None:
    if marker is not None:
        (tmp_path / prefix.READY).parent.mkdir(parents=True)
        (tmp_path / prefix.READY).write_bytes(marker)
    assert not prefix.is_ready(variant, LOCK, tmp_path)


def test_files_that_are_as_they_should_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "link").symlink_to("a")
    prefix.check(tmp_path, {"a": sha256(b"a"), "link": sha256(b"a")})


def test_files_that_are_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"b")
    (tmp_path / "link").symlink_to("nothing")
    (tmp_path / "folder").mkdir()
    names = ("a", "link", "folder", "none")
    with pytest.raises(IntegrityError) as caught:
        prefix.check(tmp_path, {name: sha256(b"a") for name in names})
    assert caught.value.what.startswith("4 files")
    told = str(caught.value.found)
    assert sum(part in told for part in ("link: missing", "folder: missing", "none: missing",
                                         f"a: sha256 {sha256(b'b')}")) == 3  # fmt: skip
