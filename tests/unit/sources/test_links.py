"""Links that lead out of a folder, and absolute ones that are made relative."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.sources.unpack import leading_out, make_relative


def make_tree(root: Path, links: dict[str, str]) -> None:
    (root / "usr/lib/deep").mkdir(parents=True)
    (root / "usr/lib/file").touch()
    for name, target in links.items():
        (root / name).symlink_to(target.replace("NAME", root.name))


@pytest.mark.parametrize(
    ("links", "absolute"),
    [
        ({"usr/a": "lib/file"}, False),
        ({"usr/a": "../usr/lib"}, False),
        ({"usr/a": "gone/../lib"}, False),
        ({"usr/a": "."}, False),
        ({"usr/a": ".."}, False),
        ({"usr/a": "lib", "usr/b": "a/file"}, False),
        ({"usr/lib/deep/up": "../..", "a": "usr/lib/deep/up/lib"}, False),
        ({"usr/evil": "../.."}, False),
        ({"evil": ".."}, False),
        ({"evil": "../NAME/usr"}, False),
        ({"evil": "gone/../../x"}, False),
        ({"evil": "evil"}, False),
        ({"evil": "/usr/lib/file"}, False),
        ({"evil": "usr/lib/deep/up/../x", "usr/lib/deep/up": "../../.."}, False),
        # Without a look at `top`, top/../secret would be inside.
        ({"usr/lib/deep/top": "../../..", "evil": "usr/lib/deep/top/../secret"}, False),
        ({"a": "/usr/lib/file", "evil": "/usr/../../x", "usr/b": "/gone"}, True),
    ],
)
def test_links_out_of_a_folder_and_circles(
    links: dict[str, str], absolute: bool, tmp_path: Path
) -> None:
    make_tree(tmp_path, links)
    expected = [tmp_path / name for name in links if "evil" in name]
    assert leading_out(tmp_path, absolute=absolute) == expected


def test_absolute_links_become_relative(tmp_path: Path) -> None:
    """Without a look at `down`, /down/../../x would be above the root."""
    links = {"usr/a": "/usr/lib/file", "usr/lib/b": "/gone", "c": "usr", "down": "usr/lib/deep",
             "d": "/down/../../lib/file", "usr/lib/root": "/"}  # fmt: skip
    make_tree(tmp_path, links)
    assert leading_out(tmp_path, absolute=True) == []
    make_relative(tmp_path)
    assert leading_out(tmp_path) == []
    targets = [str((tmp_path / name).readlink()) for name in ("usr/a", "usr/lib/b", "c")]
    assert targets == ["../usr/lib/file", "../../gone", "usr"]
    assert (tmp_path / "d").samefile(tmp_path / "usr/lib/file")
    assert (tmp_path / "usr/lib/root").samefile(tmp_path)
