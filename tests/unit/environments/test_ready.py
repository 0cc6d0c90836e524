"""The key of an environment is kept as long as nothing that decides it changes."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import in_use, ready
from stacks.environments.folders import READY, folder_of
from stacks.locks.folders import lock_folder
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


@pytest.fixture
def workspace(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a checkout with two files of code, no recipe, and copies of envs/."""
    # All files are of this moment.
    monkeypatch.setattr(ready, "TICK", -(10**9))
    for name in ("envs", "recipes"):
        (own_workspace.root / name).unlink()
    own_workspace.recipes.mkdir()
    shutil.copytree(REPOSITORY / "envs", own_workspace.envs)
    (own_workspace.root / "stacks").mkdir()
    for name in ("code.py", "other.py"):
        (own_workspace.root / "stacks" / name).write_text("1")
    return own_workspace


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count what is derived; give the list of the variants' names."""
    names: list[str] = []

    def derive(workspace: Workspace, variants: Sequence[Variant]) -> list[str]:
        names.extend(variant.name for variant in variants)
        return [f"key {len(names)}"] * len(variants)

    monkeypatch.setattr(ready, "_derive", derive)
    return names


def key(workspace: Workspace, name: str = "openblas") -> object:
    [found] = ready.keys_of(workspace, [load_variant(workspace, name)])
    return found


def test_a_key_is_derived_once(workspace: Workspace, derived: list[str]) -> None:
    assert [key(workspace), key(workspace), key(workspace, "mkl"), key(workspace)] == [
        "key 1",
        "key 1",
        "key 2",
        "key 1",
    ]
    assert derived == ["openblas", "mkl"]


@pytest.mark.parametrize(
    "change",
    ["code", "same size and time", "new file", "removed file", "recipe", "lock", "flavour"],
)
def test_a_change_of_what_decides_a_key_derives_it_again(
    workspace: Workspace, derived: list[str], change: str
) -> None:
    key(workspace)
    code = workspace.root / "stacks/code.py"
    if change == "code":
        code.write_text("22")
    elif change == "same size and time":
        before = code.stat()
        code.write_text("2")
        os.utime(code, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif change == "new file":
        code.with_name("new.py").touch()
    elif change == "removed file":
        code.unlink()
    elif change == "recipe":
        (workspace.recipes / "new").mkdir()
        (workspace.recipes / "new/recipe.yaml").touch()
    elif change == "lock":
        (lock_folder(workspace, load_variant(workspace, "openblas")) / "sizes.json").unlink()
    else:
        path = workspace.envs / "variants/openblas.yaml"
        path.write_text(path.read_text().replace("summary: ", "summary: other "))
    key(workspace)
    assert derived == ["openblas"] * 2


def test_python_s_compiled_modules_change_nothing(workspace: Workspace, derived: list[str]) -> None:
    key(workspace)
    (workspace.root / "stacks/__pycache__").mkdir()
    (workspace.root / "stacks/__pycache__/code.pyc").touch()
    key(workspace)
    assert derived == ["openblas"]


def test_a_file_of_this_moment_may_change_again(
    workspace: Workspace, derived: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time_ns()
    monkeypatch.setattr(ready, "TICK", 3600 * 10**9)
    monkeypatch.setattr(time, "time_ns", lambda: now)
    key(workspace)
    key(workspace)
    assert derived == ["openblas"] * 2


@pytest.mark.parametrize(
    "damage", ["", "[]", "null", "{", "[" * 100_000, '{"%s": 1}', '{"%s": ["", "x"]}', "\xff"]
)
def test_a_damaged_record_is_written_again(
    workspace: Workspace, derived: list[str], damage: str
) -> None:
    key(workspace)
    place = folder_of(workspace, load_variant(workspace, "openblas"))
    record = workspace.cache / ready.RECORD
    record.write_bytes(damage.replace("%s", str(place)).encode("latin-1"))
    assert key(workspace) == "key 2"
    assert json.loads(record.read_text())[str(place)][0] == "key 2"


def test_no_changed_byte_of_the_record_changes_a_key(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "_derive", lambda workspace, variants: ["a key"])
    assert key(workspace) == "a key"
    record = workspace.cache / ready.RECORD
    whole = record.read_bytes()
    for place in range(len(whole)):
        record.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert key(workspace) == "a key"


def test_a_cache_that_cannot_be_written_is_no_error(
    workspace: Workspace, derived: list[str]
) -> None:
    workspace.cache.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(workspace.cache, ignore_errors=True)
    workspace.cache.touch()
    assert [key(workspace), key(workspace)] == ["key 1", "key 2"]


def test_an_error_is_not_kept(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "_derive", lambda *given: [StaleError("stale")])
    assert isinstance(key(workspace), StaleError)
    with pytest.raises(StaleError, match="stale"):
        ready.ready_environment(workspace, "openblas", None)
    assert not json.loads((workspace.cache / ready.RECORD).read_text())


def test_an_environment_that_is_not_built(workspace: Workspace, derived: list[str]) -> None:
    with pytest.raises(UsageError, match=r"openblas is not built\n.*--variant openblas"):
        ready.ready_environment(workspace, "openblas", None)
    folder_of(workspace, load_variant(workspace, "openblas")).mkdir(parents=True)
    with pytest.raises(UsageError, match="is not built from its current lock"):
        ready.ready_environment(workspace, "openblas", None)


@pytest.mark.parametrize("marker", [None, b"", b"[]", b"null", b'{"key": 1}', b"\xff"])
def test_an_environment_without_its_marker_has_no_key(tmp_path: Path, marker: bytes | None) -> None:
    if marker is not None:
        (tmp_path / READY).parent.mkdir(parents=True)
        (tmp_path / READY).write_bytes(marker)
    assert ready.key_in(tmp_path) is None


def test_a_built_environment_is_given_without_its_lock(
    workspace: Workspace, derived: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    variant = load_variant(workspace, "openblas")
    assert ready.built_environment(workspace, variant) is None
    assert derived == [], "a first build derives no key twice"
    target = folder_of(workspace, variant)
    (target / READY).parent.mkdir(parents=True)
    (target / READY).write_text('{"key": "key 1", "local": null}')
    assert ready.built_environment(workspace, variant) == target
    assert capsys.readouterr().err == f"openblas on theano-1.0.5\n  ready    {target}\n"
    (target / READY).write_text('{"key": "of another lock", "local": null}')
    assert ready.built_environment(workspace, variant) is None


def test_whether_amds_own_library_is_in_an_environment_only_its_build_can_tell(
    workspace: Workspace, derived: list[str]
) -> None:
    variant = load_variant(workspace, "mkl-amdlibm")
    target = folder_of(workspace, variant)
    (target / READY).parent.mkdir(parents=True)
    (target / READY).write_text('{"key": "key 1", "local": null}')
    assert ready.built_environment(workspace, variant) is None


def test_an_environment_removed_meanwhile_is_not_ready(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["key", None]
    monkeypatch.setattr(ready, "key_in", lambda target: answers.pop(0))
    variant = load_variant(own_workspace, "openblas")
    assert not ready.is_ready(own_workspace, variant, "key")
    held = {path for path in in_use._held if path.is_relative_to(own_workspace.root)}
    assert held == {
        own_workspace.root / ".build.lock",
        own_workspace.environments / "theano-1.0.5/.openblas.used",
    }
    for path in held:
        os.close(in_use._held.pop(path))
