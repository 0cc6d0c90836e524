from __future__ import annotations

import base64
import csv
import email
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.version import VERSION
from stacks.core.workspace import Workspace
from stacks.distribution import release


@pytest.fixture
def app(workspace: Workspace, tmp_path: Path) -> Path:
    path = tmp_path / release.SUITE
    release.write_suite(workspace, path)
    return path


def run(app: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", app, *words], capture_output=True, text=True, check=False
    )


@pytest.fixture
def wheel(workspace: Workspace, tmp_path: Path) -> Path:
    return release.write_suite(workspace, tmp_path, wheel=True)


def test_the_same_files_give_the_same_bytes(app: Path, wheel: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(REPOSITORY / "verify", other / "verify")
    shutil.copy(REPOSITORY / "LICENSE", other)
    for path in other.rglob("*"):
        path.chmod(0o700)
        os.utime(path, (0, 0))
    (other / "verify/__pycache__").mkdir(exist_ok=True)
    (other / "verify/__pycache__/cli.pyc").touch()
    old = os.umask(0o077)
    try:
        release.write_suite(Workspace(other, tmp_path), tmp_path / "second.pyz")
        second = release.write_suite(Workspace(other, tmp_path), other, wheel=True)
    finally:
        os.umask(old)
    assert (tmp_path / "second.pyz").read_bytes() == app.read_bytes()
    assert second.read_bytes() == wheel.read_bytes()
    assert stat.S_IMODE(second.stat().st_mode) == 0o644


def test_a_folder_is_not_replaced(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    written = release.write_suite(workspace, tmp_path / "folder")
    assert written == tmp_path / "folder/blas-verify.pyz" and written.is_file()
    for wrong in (tmp_path / "missing/file", written / "file"):
        with pytest.raises(UsageError, match="cannot be written there"):
            release.write_suite(workspace, wrong)
    written.unlink()
    written.mkdir()
    with pytest.raises(UsageError, match="cannot be written there"):
        release.write_suite(workspace, tmp_path / "folder")


def test_a_wheel_has_the_name_that_pip_asks_for(workspace: Workspace, tmp_path: Path) -> None:
    assert (
        release.write_suite(workspace, tmp_path / release.SUITE_WHEEL).name == release.SUITE_WHEEL
    )
    for name, is_wheel in (("blas.whl", False), ("blas.pyz", True)):
        with pytest.raises(UsageError, match="pip does not install a wheel of this name") as caught:
            release.write_suite(workspace, tmp_path / name, wheel=is_wheel)
        assert caught.value.fix == f"name its folder: ./invoke verify-app --wheel {tmp_path}"
        assert not (tmp_path / name).exists()


def test_the_wheel_describes_itself_and_its_record_lists_every_file(app: Path, wheel: Path) -> None:
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


def test_it_holds_the_whole_suite_and_the_licence(app: Path) -> None:
    with zipfile.ZipFile(app) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
    assert {"__main__.py", "suite.py", "blas/peak.c", "elementwise/registers.c", "LICENSE"} < names
    assert not [name for name in names if "program_hook" in name or "cache" in name]


def test_every_python_runs_it(app: Path, tmp_path: Path) -> None:
    done = run(app, "--help")
    assert (done.returncode, done.stdout.splitlines()[0][:13]) == (0, "usage: verify")
    assert os.access(app, os.X_OK)
    # A Python without a framework, and another program of the suite.
    for words in ([], ["files", "--prefix", str(tmp_path)]):
        done = run(app, *words)
        assert done.returncode == 2 and "Traceback" not in done.stderr
    assert str(tmp_path) in done.stderr
