from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.environments import prefix
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.lock import Lock
from stacks.variants.variant import ACCELERATOR, SCAN_FIX, Variant, load_variant
from unit.helpers.serving import sha256

LOCK = Lock(packages=(), requirements=(), sha256="0" * 64, sealed="", seal="")


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas", "theano-1.0.5")


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


def package(name: str) -> LockedPackage:
    url = f"http://channel/noarch/{name}-1-0.conda"
    return LockedPackage(name, "1", "0", url, sha256="0" * 64, md5="0" * 32, depends=())


def test_flavours_share_what_pip_installs(workspace: Workspace) -> None:
    keys = {
        prefix.layer_key(load_variant(workspace, flavour), LOCK, [package(n) for n in names])
        for flavour, names in (
            ("pip-default", ["gxx", "python"]),
            ("pip-openblas", ["gxx", "libopenblas", "python", ACCELERATOR, SCAN_FIX]),
        )
    }
    assert len(keys) == 1
    [key] = keys
    baseline = load_variant(workspace, "pip-default")
    assert prefix.layer_key(baseline, LOCK, [package("python")]) != key


@pytest.mark.parametrize("marker", [None, b"", b"[]", b"null", b'{"key": 1}', b"\xff"])
def test_an_environment_is_not_ready_without_its_marker(
    workspace: Workspace, marker: bytes | None, variant: Variant, tmp_path: Path
) -> None:
    if marker is not None:
        (tmp_path / prefix.READY).parent.mkdir(parents=True)
        (tmp_path / prefix.READY).write_bytes(marker)
    assert not prefix.is_ready(workspace, variant, LOCK, tmp_path)


def test_files_that_are_as_they_should_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "link").symlink_to("a")
    prefix.check_files(tmp_path, {"a": sha256(b"a"), "link": sha256(b"a")})


def test_files_that_are_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"b")
    (tmp_path / "link").symlink_to("nothing")
    (tmp_path / "folder").mkdir()
    names = ("a", "link", "folder", "none")
    with pytest.raises(IntegrityError) as caught:
        prefix.check_files(tmp_path, {name: sha256(b"a") for name in names})
    assert caught.value.what.startswith("4 files")
    message = str(caught.value.found)
    assert sum(part in message for part in ("link: missing", "folder: missing", "none: missing",
                                         f"a: sha256 {sha256(b'b')}")) == 3  # fmt: skip
