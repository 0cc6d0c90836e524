from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conda_lock.lockfile import parse_conda_lock_file

from stacks.channel.locked_package import LockedPackage
from stacks.core.errors import UsageError
from stacks.locks import conda_lock

FILE = "six-1.16.0-py_0.conda"
URL = f"http://here/noarch/{FILE}"
PACKAGE = LockedPackage(
    "six", "1.16.0", "py_0", URL, "a" * 64, "b" * 32, 7, ("python >=3.9", "__glibc >=2.31")
)
SIZES = {FILE: 7}


def written(folder: Path, package: LockedPackage = PACKAGE) -> Path:
    path = folder / conda_lock.NAME
    text = conda_lock.text_of([package], "http://here", made_by="1.0", specs="d" * 64, seal="c")
    path.write_text(text)
    return path


def test_a_written_lock_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = conda_lock.read(path, SIZES, "lock again")
    expected = replace(PACKAGE, depends=tuple(sorted(PACKAGE.depends)))
    assert content.packages == (expected,)
    assert (expected.file_name, expected.subdir) == (FILE, "noarch")
    assert (content.channel, content.seal) == ("http://here", "c")
    assert (content.form, content.made_by, content.specs) == (2, "1.0", "d" * 64)
    assert content.sealed == conda_lock.sealed_of(path.read_text().replace("64: c", "64: e"))


def test_conda_lock_reads_what_is_written(tmp_path: Path) -> None:
    content = parse_conda_lock_file(written(tmp_path))
    [package] = content.package
    assert (package.name, package.version, package.url) == ("six", "1.16.0", URL)
    assert package.hash.sha256 == "a" * 64
    assert package.dependencies == {"python": ">=3.9", "__glibc": ">=2.31"}
    assert content.metadata.custom_metadata == {"made_by": "1.0", "form": "2", "specs": "d" * 64}


@pytest.mark.parametrize("text", ["", "[]", "a: [", "version: 1\nmetadata: {}\npackage: []\n"])
def test_other_content_is_refused_with_the_fix(tmp_path: Path, text: str) -> None:
    path = tmp_path / conda_lock.NAME
    path.write_text(text)
    with pytest.raises(UsageError, match="not a valid lock") as caught:
        conda_lock.read(path, {}, "lock again")
    assert caught.value.fix == "lock again"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a" * 64, "../" * 21 + "x"),
        ("b" * 32, "no MD5"),
        ("name: six", "name: ../six"),
        (f"noarch/{FILE}", "noarch/.."),
        (f"noarch/{FILE}", "noarch/"),
        (f"noarch/{FILE}", f"osx-64/{FILE}"),
        (f"noarch/{FILE}", '"a b.conda"'),
        ("url: http://here\n", 'url: "http://here\\n- pip"\n'),
        ("version: 1.16.0", r'version: "1\n2"'),
        ("dependencies:", "dependencies: &a"),
        ("  platform: linux-64", "  platform: osx-64"),
        ("manager: conda", "manager: pip"),
    ],
)
def test_a_value_that_leaves_its_place_is_refused_by_its_line(
    tmp_path: Path, old: str, new: str
) -> None:
    path = written(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=r"not a valid lock\n  found: .*conda-lock.yml:\d+:\d+: "):
        conda_lock.read(path, SIZES, "lock again")


def test_an_address_of_another_package_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace("build: py_0", "build: py_1"))
    with pytest.raises(UsageError, match=rf"{URL} is not the address of six-1\.16\.0-py_1"):
        conda_lock.read(path, SIZES, "")


def test_a_newer_form_names_the_version_that_made_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    text = (
        path.read_text()
        .replace("made_by: '1.0'", "made_by: 9.1.0")
        .replace("form: '2'", "form: '3'")
    )
    path.write_text(text.replace("package:", "packages:"))
    with pytest.raises(UsageError, match=r"newer form .*\n.*\n  found: .*theano-stacks 9\.1\.0"):
        conda_lock.read(path, SIZES, "")


def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / conda_lock.NAME
    path.write_text("package: " + "[" * 20_000)
    with pytest.raises(UsageError, match=r"conda-lock.yml:1:\d+: expected at most 32 levels"):
        conda_lock.read(path, {}, "lock again")


@pytest.mark.parametrize(
    "change", [{"url": "http://here/noarch/.."}, {"name": "../six"}, {"version": "1\n2"}]
)
def test_what_an_index_cannot_name_is_not_locked(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"{conda_lock.NAME}:\d+:\d+: package\[0\]"):
        written(tmp_path, replace(PACKAGE, **change))
