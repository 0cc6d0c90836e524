from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging import compiler
from stacks.core.errors import IntegrityError


def test_links_of_a_sysroot_stay_inside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "usr/lib").mkdir(parents=True)
    (root / "usr/lib/real").touch()
    (root / "usr/lib/absolute").symlink_to("/usr/lib/real")
    (root / "usr/lib/dangling").symlink_to("left-out")
    compiler._keep_links_inside(root)
    assert str((root / "usr/lib/absolute").readlink()) == "real"
    assert not (root / "usr/lib/dangling").is_symlink()
    (tmp_path / "outside").touch()
    (root / "usr/lib/evil").symlink_to("../../../outside")
    with pytest.raises(IntegrityError, match="leads out of the sysroot"):
        compiler._keep_links_inside(root)
