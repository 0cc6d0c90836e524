from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.build import check_bytes
from stacks.channel.locked_package import LockedPackage
from stacks.channel.package import Built
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock
from stacks.locks.update import known_packages

FILE = "six-1.16.0-py_0.conda"
URL = f"http://here/noarch/{FILE}"
PACKAGE = LockedPackage(
    "six", "1.16.0", "py_0", URL, "a" * 64, "b" * 32, 7, ("python >=3.9", "__glibc >=2.31")
)
SIZES = {FILE: 7}


def written(folder: Path, package: LockedPackage = PACKAGE) -> Path:
    path = folder / conda_lock.NAME
    text = conda_lock.text_of([package], "http://here", made_by="1.0", specs="d" * 64, files={})
    path.write_text(text)
    return path


def test_a_written_lock_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = conda_lock.read(path, SIZES, "lock again")
    expected = replace(PACKAGE, depends=tuple(sorted(PACKAGE.depends)))
    assert content.packages == (expected,)
    assert (expected.file_name, expected.subdir) == (FILE, "noarch")
    assert (content.channel, content.seal) == (
        "http://here",
        conda_lock.seal_of(content.sealed, {}),
    )
    assert (content.made_by, content.specs) == ("1.0", "d" * 64)
    path.write_text(path.read_text().replace(content.seal, "another"))
    assert conda_lock.read(path, SIZES, "").sealed == content.sealed


def test_other_content_is_refused_with_the_fix(tmp_path: Path) -> None:
    path = tmp_path / conda_lock.NAME
    for text in ("", "[]", "a: [", "version: 1\nmetadata: {}\npackage: []\n", "[" * 20_000):
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
        ("build: py_0", "build: py_1"),
    ],
)
def test_a_value_that_leaves_its_place_is_refused_by_its_line(
    tmp_path: Path, old: str, new: str
) -> None:
    path = written(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    found = rf"(.*conda-lock.yml:\d+:\d+: |{URL} is not the address of six-1\.16\.0-py_1)"
    with pytest.raises(UsageError, match=rf"not a valid lock\n  found: +{found}"):
        conda_lock.read(path, SIZES, "lock again")


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


@pytest.mark.parametrize(
    "change", [{"url": "http://here/noarch/.."}, {"name": "../six"}, {"version": "1\n2"}]
)
def test_what_an_index_cannot_name_is_not_locked(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"{conda_lock.NAME}:\d+:\d+: package\[0\]"):
        written(tmp_path, replace(PACKAGE, **change))


def test_other_bytes_under_the_name_of_a_committed_lock_are_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tmp_path / "cache")
    # Of another channel, and one that cannot be read, and so is written again.
    for name in ("by-conda", "mkl@there", "by-pip"):
        folder = workspace.locks / "tiny" / name
        folder.mkdir(parents=True)
        written(folder)
        (folder / "sizes.json").write_text(f'{{"{FILE}": 7}}')
    (workspace.locks / "tiny/by-pip/conda-lock.yml").write_text("{")
    known = known_packages(workspace)
    assert known.keys() == {FILE}
    check_bytes(known.values(), {FILE: Built(tmp_path / FILE, PACKAGE.sha256)})
    with pytest.raises(IntegrityError, match=f"{FILE}: built from its sources") as caught:
        check_bytes(known.values(), {FILE: Built(tmp_path / FILE, "c" * 64)})
    assert (caught.value.expected, caught.value.found) == (
        f"sha256 {PACKAGE.sha256}",
        f"sha256 {'c' * 64}",
    )
    assert caught.value.fix and "raise the `revision`" in caught.value.fix
