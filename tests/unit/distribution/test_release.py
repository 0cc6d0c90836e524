"""The files of a release: the same bytes for the same commit, and what a tag needs."""

import base64
import csv
import email
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from integration.bare_machine import copy_checkout
from integration.programs import called

from stacks.core.disk import REPOSITORY
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import VERSION, Workspace
from stacks.distribution import release
from stacks.distribution.release import DIGESTS, notes

WHEEL = f"theano_stacks-{VERSION}-py3-none-any.whl"
CHANGELOG = """\
# Changelog

## [Unreleased]

## [1.0.0rc1] - 2026-11-25
### Added
- A release.

## [0.1.0] - 2026-11-22
### Added
- The rest.
"""


def release_of(root: Path, folder: Path) -> Path:
    release.release(Workspace(root, root / "cache"), folder)
    return folder


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release_of(REPOSITORY, tmp_path_factory.mktemp("release") / "first")


def test_the_same_files_give_the_same_bytes(released: Path, tmp_path: Path) -> None:
    other = copy_checkout(tmp_path / "another checkout, é")
    for path in (path for path in other.rglob("*") if path.is_file()):
        path.chmod(0o600 | path.stat().st_mode & 0o100)
        os.utime(path, (0, 0))
    for folder in ("stacks/core/__pycache__", "verify/__pycache__"):
        (other / folder).mkdir()
        (other / folder / "disk.pyc").touch()
    before = os.umask(0o077)
    try:
        second = release_of(other, tmp_path / "second")
    finally:
        os.umask(before)
    assert sorted(path.name for path in second.iterdir()) == [
        DIGESTS, "blas-verify.pyz", release.SUITE_WHEEL, WHEEL
    ]  # fmt: skip
    for path in second.iterdir():
        assert path.read_bytes() == (released / path.name).read_bytes(), path.name
    check = ["sha256sum", "--check", "--strict", DIGESTS]
    assert subprocess.run(check, cwd=second, check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_the_wheel_has_what_the_tasks_read(released: Path) -> None:
    with zipfile.ZipFile(released / WHEEL) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"theano_stacks-{VERSION}.dist-info/METADATA").decode()
        scripts = wheel.read(f"theano_stacks-{VERSION}.dist-info/entry_points.txt").decode()
    assert {name.partition("/")[0] for name in names} == {
        "theano_stacks", f"theano_stacks-{VERSION}.dist-info"
    }  # fmt: skip
    for folder in ("stacks", "verify", "envs", "recipes", "docker", "results"):
        tracked = subprocess.check_output(["git", "ls-files", folder], cwd=REPOSITORY, text=True)
        assert {
            f"theano_stacks/{name}" for name in tracked.splitlines() if (REPOSITORY / name).exists()
        } <= names, folder
    for name in ("tests", "docs", "site", "invoke", "pyproject.toml"):
        assert not [path for path in names if path.startswith(f"theano_stacks/{name}")], name
    assert "Requires-Dist: invoke==" in metadata and "Requires-Python: >=3.10" in metadata
    assert "theano-stacks = theano_stacks.stacks.tasks:main" in scripts


def test_the_locks_have_what_pyproject_names() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text()
    [listed] = re.findall(r"^dependencies = \[\n(.*?)^\]", project, re.M | re.S)
    pinned = re.findall(r'"(.+==.+)"', listed)
    lock = (REPOSITORY / "requirements.lock").read_text()
    assert len(pinned) > 10
    names = [re.sub(r"\[.*\]", "", pin).lower() for pin in pinned]
    assert [pin for pin in names if f"\n{pin} \\\n" not in lock.lower()] == []
    [backend] = re.findall(r'^requires = \["(.+)"\]', project, re.M)
    assert f"\n{backend} \\\n" in (REPOSITORY / "requirements-release.lock").read_text()


def test_what_cannot_be_released(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    for root, target, tag, error, message in (
        (REPOSITORY, tmp_path, "", UsageError, "is there and is no release"),
        (REPOSITORY, tmp_path / "to", "v0", UsageError, f"expected: v{VERSION}"),
        (tmp_path, tmp_path / "to", f"v{VERSION}", StaleError, r"found: +no commit"),
    ):
        with pytest.raises(error, match=message):
            release.release(Workspace(root, root / "cache"), target, tag=tag)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_notes_are_the_section_of_the_version() -> None:
    assert notes(CHANGELOG, "1.0.0rc1") == "### Added\n- A release.\n"
    assert notes(CHANGELOG, "0.1.0") == "### Added\n- The rest.\n"
    for version in ("1.0.0", "1x0.0rc1", "Unreleased"):
        with pytest.raises(StaleError, match=r"expected: ## \[.*\] - YYYY-MM-DD"):
            notes(CHANGELOG, version)


@pytest.fixture
def app(workspace: Workspace, tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return release.write_suite(workspace, tmp_path / "folder")


@pytest.mark.parametrize(
    ("target", "is_wheel"),
    [
        ("missing/file", False),
        ("folder/blas-verify.pyz/file", False),
        ("with-folders", False),
        ("blas.whl", False),
        ("blas.pyz", True),
    ],
)
def test_where_the_suite_cannot_be_written(
    target: str, is_wheel: bool, workspace: Workspace, app: Path, tmp_path: Path
) -> None:
    assert app == tmp_path / "folder/blas-verify.pyz"
    (tmp_path / f"with-folders/{release.SUITE}").mkdir(parents=True)
    name = release.SUITE_WHEEL if target.startswith("blas") else release.SUITE
    with pytest.raises(UsageError, match=f"cannot be written there(.|\n)*{name}"):
        release.write_suite(workspace, tmp_path / target, wheel=is_wheel)
    assert not (tmp_path / target).is_file()


def test_the_wheel_describes_itself_and_its_record_lists_every_file(
    workspace: Workspace, app: Path, tmp_path: Path
) -> None:
    wheel = release.write_suite(workspace, tmp_path / release.SUITE_WHEEL)
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(app) as suite:
        info = f"blas_verify-{VERSION}.dist-info"
        files = {name: archive.read(name) for name in archive.namelist()}
        rows = {name: row for name, *row in csv.reader(files[f"{info}/RECORD"].decode().split())}
        assert rows.pop(f"{info}/RECORD") == ["", ""]
        assert set(rows) == set(files) - {f"{info}/RECORD"}
        for name, (digest, size) in rows.items():
            sha256 = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode()
            assert (digest, size) == (f"sha256={sha256.rstrip('=')}", str(len(files[name])))
        for name in set(suite.namelist()) - {"LICENSE"}:
            assert files[f"blas_verify/{name}"] == suite.read(name)
        assert files[f"{info}/LICENSE"] == suite.read("LICENSE")
        metadata = email.message_from_string(files[f"{info}/METADATA"].decode())
        assert (metadata["Name"], metadata["Version"]) == ("blas-verify", VERSION)
        assert "Requires-Dist" not in metadata
        tags = email.message_from_string(files[f"{info}/WHEEL"].decode()).get_all("Tag")
        assert tags == ["py2-none-any", "py3-none-any"]


def test_it_holds_the_whole_suite_and_every_python_runs_it(app: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(app) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
    assert {"__main__.py", "suite.py", "blas/peak.c", "elementwise/registers.c", "LICENSE"} < names
    assert not [name for name in names if "program_hook" in name or "cache" in name]
    assert os.access(app, os.X_OK)
    # A Python without a framework, and another program of the suite.
    for words, status in ((["--help"], 0), ([], 2), (["files", "--prefix", str(tmp_path)], 2)):
        done = called([sys.executable, "-I", app, *words])
        assert done.returncode == status and "Traceback" not in done.stderr
        assert status or done.stdout.startswith("usage: verify")
    assert str(tmp_path) in done.stderr
