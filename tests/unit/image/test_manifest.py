from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError
from stacks.image import manifest


def test_files_changed_after_the_layout_are_an_error(tmp_path: Path) -> None:
    one, other = tmp_path / "packages", tmp_path / "settings"
    (one / "lib").mkdir(parents=True)
    (one / "lib/a").write_text("a")
    (one / "lib/b").symlink_to("a")
    other.mkdir()
    (other / "c").write_text("c")
    manifest.write(tmp_path, [one, other])
    found = {"lib/a": sha256_of(one / "lib/a"), "lib/b": "a", "c": sha256_of(other / "c")}
    manifest.check(tmp_path, found)
    for changed, name in (
        ({**found, "lib/a": "0" * 64}, "lib/a"),
        ({**found, "lib/b": "c"}, "lib/b"),
        ({**found, "new": "0" * 64}, "new"),
        ({k: v for k, v in found.items() if k != "c"}, "c"),
    ):
        with pytest.raises(IntegrityError) as caught:
            manifest.check(tmp_path, changed)
        assert caught.value.what.startswith(f"1 files of {tmp_path} changed")
        assert caught.value.found == name
        assert caught.value.fix and f"rm -r {tmp_path}" in caught.value.fix
