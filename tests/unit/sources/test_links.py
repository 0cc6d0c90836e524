from __future__ import annotations

from pathlib import Path

import pytest

from stacks.sources.links import leading_out, make_relative


def make_tree(root: Path, links: dict[str, str]) -> None:
    (root / "usr/lib/deep").mkdir(parents=True)
    (root / "usr/lib/file").touch()
    for name, target in links.items():
        (root / name).symlink_to(target)


@pytest.mark.parametrize(
    "links",
    [
        {"usr/a": "lib/file"},
        {"usr/a": "../usr/lib"},
        {"usr/a": "gone/../lib"},
        {"usr/a": "."},
        {"usr/a": ".."},
        {"usr/a": "lib", "usr/b": "a/file"},
        {"usr/lib/deep/up": "../..", "a": "usr/lib/deep/up/lib"},
    ],
)
def test_links_to_what_is_inside(links: dict[str, str], tmp_path: Path) -> None:
    make_tree(tmp_path, links)
    assert leading_out(tmp_path) == []


@pytest.mark.parametrize(
    "links",
    [
        {"usr/evil": "../.."},
        {"evil": ".."},
        {"evil": "../NAME/usr"},
        {"evil": "gone/../../x"},
        {"evil": "evil"},
        {"evil": "/usr/lib/file"},
        {"evil": "usr/lib/deep/up/../x", "usr/lib/deep/up": "../../.."},
    ],
)
def test_links_out_of_the_folder_and_circles(links: dict[str, str], tmp_path: Path) -> None:
    make_tree(tmp_path, {n: t.replace("NAME", tmp_path.name) for n, t in links.items()})
    assert leading_out(tmp_path) == [tmp_path / name for name in links if "evil" in name]


def test_a_way_out_through_another_link_is_found(tmp_path: Path) -> None:
    """Without a look at `top`, top/../secret would be inside."""
    make_tree(tmp_path, {"usr/lib/deep/top": "../../..", "evil": "usr/lib/deep/top/../secret"})
    assert leading_out(tmp_path) == [tmp_path / "evil"]


def test_an_absolute_link_may_stand_for_one_below_the_folder(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a": "/usr/lib/file", "evil": "/usr/../../x", "usr/b": "/gone"})
    assert leading_out(tmp_path, absolute=True) == [tmp_path / "evil"]


def test_absolute_links_become_relative(tmp_path: Path) -> None:
    make_tree(tmp_path, {"usr/a": "/usr/lib/file", "usr/lib/b": "/gone", "c": "usr"})
    make_relative(tmp_path)
    targets = {str(name): str((tmp_path / name).readlink()) for name in ("usr/a", "usr/lib/b", "c")}
    assert targets == {"usr/a": "../usr/lib/file", "usr/lib/b": "../../gone", "c": "usr"}


def test_a_relative_link_leads_to_the_same_file_as_the_absolute_one(tmp_path: Path) -> None:
    """Without a look at `down`, /down/../../x would be above the root."""
    make_tree(tmp_path, {"down": "usr/lib/deep", "a": "/down/../../lib/file", "usr/lib/b": "/"})
    assert leading_out(tmp_path, absolute=True) == []
    make_relative(tmp_path)
    assert leading_out(tmp_path) == []
    assert (tmp_path / "a").samefile(tmp_path / "usr/lib/file")
    assert (tmp_path / "usr/lib/b").samefile(tmp_path)
