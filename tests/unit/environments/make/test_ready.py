"""Whether an environment is built from its variant's current lock."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import pytest

from stacks.channel.locked_package import LockedPackage
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import READY, folder_of
from stacks.locks.lock import Lock, lock_folder
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import mark_built

LOCK = Lock(packages=(), requirements=())
PACKAGE = LockedPackage("six", "1", "0", "u/noarch/six-1-0.conda", "1" * 64, "0" * 32, 1)


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    """Give a checkout with copies of envs/."""
    own_workspace.envs.unlink()
    shutil.copytree(REPOSITORY / "envs", own_workspace.envs)
    return own_workspace


def test_a_summary_is_no_reason_to_build_again(workspace: Workspace) -> None:
    target = mark_built(workspace, load_variant(workspace, "openblas"))
    for name in ("variants/openblas", "frameworks/theano-1.0.5"):
        path = workspace.envs / f"{name}.yaml"
        path.write_text(path.read_text().replace("summary: ", "summary: other "))
    assert folders.ready_environment(workspace, "openblas", None)[1] == target


@pytest.mark.parametrize("change", ["lock", "flavour", "missing lock"])
def test_a_change_of_what_decides_an_environment(workspace: Workspace, change: str) -> None:
    variant = load_variant(workspace, "openblas")
    mark_built(workspace, variant)
    folder = lock_folder(workspace, variant)
    if change == "lock":
        shutil.rmtree(folder)
        shutil.copytree(lock_folder(workspace, load_variant(workspace, "mkl")), folder)
    elif change == "flavour":
        path = workspace.envs / "variants/openblas.yaml"
        path.write_text(f"{path.read_text()}flags: {{optimizer: fast_run}}\n")
    else:
        shutil.rmtree(folder)
    [key] = folders.keys_of(workspace, [load_variant(workspace, "openblas")])
    assert isinstance(key, UsageError if change == "missing lock" else StaleError)


def test_an_environment_that_is_not_built(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"openblas is not built\n.*--variant openblas"):
        folders.ready_environment(workspace, "openblas", None)
    folder_of(workspace, load_variant(workspace, "openblas")).mkdir(parents=True)
    with pytest.raises(UsageError, match="is not built from its current lock"):
        folders.ready_environment(workspace, "openblas", None)


def test_what_a_key_depends_on(own_workspace: Workspace, variant: Variant) -> None:
    def key(variant: Variant = variant, lock: Lock = LOCK, place: str = "/a") -> str:
        return folders.key_of(own_workspace, variant, lock, Path(place))

    changed = variant.model_copy(update={"flags": {"x": "y"}})
    locked = dataclasses.replace(LOCK, packages=(PACKAGE,))
    keys = {key(), key(place="/b"), key(lock=locked), key(changed)}
    assert len(keys) == 4 and key() in keys


def test_the_users_packages_are_part_of_what_is_made(tmp_path: Path) -> None:
    (tmp_path / READY).parent.mkdir(parents=True)
    (tmp_path / READY).write_text(folders.mark("key", {"amdlibm": "1" * 64}))
    assert folders.is_made(tmp_path, "key", {"amdlibm": "1" * 64})
    assert not folders.is_made(tmp_path, "key", {"amdlibm": "2" * 64})
    assert not folders.is_made(tmp_path, "key", {})
    assert not folders.is_made(tmp_path, "other", {"amdlibm": "1" * 64})


@pytest.mark.parametrize("marker", [None, b"", b"[]", b"null", b'{"key": 1}', b"\xff"])
def test_an_environment_without_its_marker_has_no_key(tmp_path: Path, marker: bytes | None) -> None:
    if marker is not None:
        (tmp_path / READY).parent.mkdir(parents=True)
        (tmp_path / READY).write_bytes(marker)
    assert folders.key_in(tmp_path) is None
    assert not folders.is_made(tmp_path, "key", {})


def test_a_built_environment_is_given_by_its_marker(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    variant = load_variant(workspace, "openblas")
    assert folders.built_environment(workspace, variant) is None
    target = mark_built(workspace, variant)
    assert folders.built_environment(workspace, variant) == target
    assert capsys.readouterr().err == f"openblas on theano-1.0.5\n  ready    {target}\n"
    (target / READY).write_text('{"key": "of another lock", "local": null}')
    assert folders.built_environment(workspace, variant) is None


def test_whether_amds_own_library_is_in_an_environment_only_its_build_can_tell(
    workspace: Workspace,
) -> None:
    variant = load_variant(workspace, "mkl-amdlibm")
    mark_built(workspace, variant)
    assert folders.built_environment(workspace, variant) is None


def test_an_environment_removed_meanwhile_is_not_ready(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["key", None]
    monkeypatch.setattr(folders, "key_in", lambda target: answers.pop(0))
    variant = load_variant(own_workspace, "openblas")
    assert not folders.is_ready(own_workspace, variant, "key")
    held = {path for path in folders._held if path.is_relative_to(own_workspace.root)}
    assert held == {
        own_workspace.root / ".build.lock",
        own_workspace.environments / "theano-1.0.5/.openblas.used",
    }
    for path in held:
        os.close(folders._held.pop(path))
