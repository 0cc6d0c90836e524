from __future__ import annotations

from pathlib import Path

from stacks.core.workspace import Workspace
from stacks.locks.folders import lock_folder, with_other_channels
from stacks.variants.load import load_variant


def test_the_locks_of_other_channels_are_beside_our_own(
    own_workspace: Workspace, tmp_path: Path
) -> None:
    (own_workspace.root / "envs").unlink()
    (own_workspace.root / "envs").mkdir()
    for name in ("blas", "frameworks", "variants"):
        (own_workspace.envs / name).symlink_to(Path(__file__).parents[3] / "envs" / name)
    variant = load_variant(own_workspace, "openblas", "theano-0.8.2")
    folder = lock_folder(own_workspace, variant)
    assert folder == own_workspace.root / "envs/locks/theano-0.8.2/openblas"
    assert with_other_channels(own_workspace, [variant]) == (variant,)
    folder.with_name("openblas@conda-forge").mkdir(parents=True)
    folder.with_name("openblas-amdlibm@other").mkdir()
    variants = with_other_channels(own_workspace, [variant])
    assert [each.name for each in variants] == ["openblas", "openblas@conda-forge"]
    assert lock_folder(own_workspace, variants[1]).name == "openblas@conda-forge"
