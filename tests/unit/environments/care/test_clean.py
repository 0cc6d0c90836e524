from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.care.clean import clean
from stacks.environments.folders import folder_of, folder_of_stack, report_path, workload_reports
from stacks.variants.load import load_variant


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    return own_workspace


def test_a_clean_of_one_variant_leaves_the_others(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("openblas", "pip-default"):
        (workspace.environments / "theano-1.0.5" / name).mkdir(parents=True)
    variant = load_variant(workspace, "openblas")
    workload_reports(workspace, variant).mkdir(parents=True)
    report_path(workspace, variant).write_text("{}")
    clean(workspace, [variant], cache=False)
    assert [p.name for p in (workspace.environments / "theano-1.0.5").iterdir()] == ["pip-default"]
    assert capsys.readouterr().out.splitlines() == [
        f"removing {workspace.build}/prefixes/theano-1.0.5/openblas",
        f"removing {workspace.build}/reports/theano-1.0.5/openblas.json",
        f"removing {workspace.build}/reports/theano-1.0.5/workloads/openblas",
    ]


def test_a_clean_of_build_follows_a_symbolic_link(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "big/prefixes/x").mkdir(parents=True)
    workspace.build.symlink_to(tmp_path / "big")
    clean(workspace, None, cache=False)
    assert not list((tmp_path / "big").iterdir())


def test_a_linked_folder_is_emptied_and_its_link_stays(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "large/theano-1.0.5/openblas").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine").write_text("")
    (tmp_path / "large/data").symlink_to(tmp_path / "data")
    workspace.build.mkdir()
    (workspace.build / "prefixes").symlink_to(tmp_path / "large")
    clean(workspace, None, cache=False)
    assert (tmp_path / "large").is_dir() and not any((tmp_path / "large").iterdir())
    assert (tmp_path / "data/mine").is_file()


def test_a_clean_of_the_cache_leaves_other_folders(workspace: Workspace) -> None:
    for name in ("bases", "sources", "packages", "modules", "mine"):
        (workspace.cache / name).mkdir(parents=True)
    clean(workspace, [], cache=True)
    assert [path.name for path in workspace.cache.iterdir()] == ["mine"]


def test_nothing_to_clean(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    clean(workspace, [], cache=True)
    assert capsys.readouterr().out == "nothing to remove\n"


def test_a_clean_of_a_stack_removes_its_copies_on_other_flavours(
    workspace: Workspace, tmp_path: Path
) -> None:
    text = "summary: mine\nextends: {}\nframework: theano-1.0.5\n"
    copy = tmp_path / "stack.build/flavours/mkl"
    (copy / "stack.build/environment").mkdir(parents=True)
    # Of a flavour that was removed since.
    (copy / "stack.yaml").write_text(text.format("gone"))
    (tmp_path / "stack.yaml").write_text(text.format("openblas"))
    clean(workspace, [load_variant(workspace, str(tmp_path))], cache=False)
    assert not copy.parent.exists()
    assert (tmp_path / "stack.yaml").exists()


def test_a_copy_in_use_stays(workspace: Workspace, tmp_path: Path) -> None:
    text = "summary: mine\nextends: {}\nframework: theano-1.0.5\n"
    copy = tmp_path / "stack.build/flavours/mkl"
    copy.mkdir(parents=True)
    (copy / "stack.yaml").write_text(text.format("gone"))
    (tmp_path / "stack.yaml").write_text(text.format("openblas"))
    stack = load_variant(workspace, str(tmp_path))
    lock = folders.lock_of(folder_of_stack(copy / "stack.yaml"))
    with (
        folders.hold_exclusive(lock, "it"),
        pytest.raises(folders.InUseError, match="flavours/mkl"),
    ):
        clean(workspace, [stack], cache=False)
    assert copy.exists()


def test_a_first_build_that_has_no_folder_yet_is_in_use(workspace: Workspace) -> None:
    variant = load_variant(workspace, "openblas")
    lock = folders.lock_of(folder_of(workspace, variant))
    with folders.hold_exclusive(lock, "it"), pytest.raises(folders.InUseError, match="/openblas"):
        clean(workspace, [variant], cache=False)
