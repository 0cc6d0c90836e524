from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from stacks.channel.staging.egg_info import to_dist_info
from stacks.core.errors import IntegrityError

METADATA = "Metadata-Version: 1.0\nName: Some.Package\nVersion: 1.0\n"


@pytest.mark.parametrize("is_folder", [True, False])
def test_an_egg_info_becomes_a_dist_info(is_folder: bool, tmp_path: Path) -> None:
    site = tmp_path / "lib/python3.9/site-packages"
    (site / "package").mkdir(parents=True)
    (site / "package/a.py").write_text("a = 1\n")
    egg_info = site / "Some.Package-1.0.egg-info"
    if is_folder:
        egg_info.mkdir()
        (egg_info / "PKG-INFO").write_text(METADATA)
        (egg_info / "top_level.txt").write_text("package\n")
        (egg_info / "dependency_links.txt").write_text("\n")
    else:
        egg_info.write_text(METADATA)
    to_dist_info(tmp_path, "python3-package")
    assert not egg_info.exists()
    [distribution] = importlib.metadata.distributions(path=[str(site)])
    assert (distribution.metadata["Name"], distribution.version) == ("Some.Package", "1.0")
    assert distribution.read_text("INSTALLER") == "conda\n"
    folder = "some_package-1.0.dist-info"
    names = {"INSTALLER", "METADATA", "RECORD"} | ({"top_level.txt"} if is_folder else set())
    expected = {"package/a.py", *(f"{folder}/{name}" for name in names)}
    assert {str(file) for file in distribution.files or ()} == expected


def test_a_package_without_python_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "liba.so").touch()
    to_dist_info(tmp_path, "liba")
    assert [path.name for path in tmp_path.iterdir()] == ["liba.so"]


def test_two_packages_in_one_are_refused(tmp_path: Path) -> None:
    for name in ("a-1.egg-info", "b-1.egg-info"):
        (tmp_path / name).write_text(METADATA)
    with pytest.raises(IntegrityError, match=r"(?s)python3-a: .* a-1\.egg-info, b-1\.egg-info"):
        to_dist_info(tmp_path, "python3-a")


def test_an_egg_info_without_metadata_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a-1.egg-info").mkdir()
    with pytest.raises(IntegrityError, match="python3-a: the package's metadata is broken"):
        to_dist_info(tmp_path, "python3-a")
