"""What a user has added to an environment, and what nobody accounts for."""

from __future__ import annotations

import csv
import importlib
import json
import os
from pathlib import Path

import pytest

from unit.helpers.environments import SITE_PACKAGES, add, environment

manifest = importlib.import_module("verify.core.manifest")
user_files = importlib.import_module("verify.core.user_files")

LOCKED = {"numpy": "1.22.4"}


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return environment(tmp_path / "environment")


def split(prefix: Path) -> tuple[list[str], list[str]]:
    added, damage = user_files.split(str(prefix), manifest.compare(str(prefix)), LOCKED)
    return added, [problem if not path else manifest.display(path) for path, problem in damage]


def installed(prefix: Path, name: str, *files: str, by: str | None = "pip") -> None:
    """Install a distribution with these files, relative to site-packages."""
    info = f"{name}.dist-info"
    names = [*files, f"{info}/RECORD", *([f"{info}/INSTALLER"] if by is not None else [])]
    for file in names:
        add(prefix, f"{SITE_PACKAGES}/{file}", f"{by}\n")
    with (prefix / SITE_PACKAGES / info / "RECORD").open("w") as record:
        csv.writer(record).writerows([file, "", ""] for file in names)


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_what_pip_and_uv_installed_is_the_users(installer: str, prefix: Path) -> None:
    installed(prefix, "pandas-1.5.0", "a.py", "a,b.py", "../../../bin/x", by=installer)
    assert split(prefix) == ([f"pandas 1.5.0 by {installer} (5 files)"], [])


@pytest.mark.parametrize("installer", ["", "conda", "a program", None])
def test_a_distribution_of_no_known_installer_is_damage(
    installer: str | None, prefix: Path
) -> None:
    installed(prefix, "pandas-1.5.0", "pandas.py", by=installer)
    added, damage = split(prefix)
    assert added == [] and f"{SITE_PACKAGES}/pandas.py" in damage


def test_a_file_that_no_record_names_is_damage(prefix: Path) -> None:
    installed(prefix, "pandas-1.5.0", "pandas.py")
    add(prefix, f"{SITE_PACKAGES}/more.pth", "import os")
    assert split(prefix)[1] == [f"{SITE_PACKAGES}/more.pth"]


def test_a_link_that_a_record_names_is_damage(prefix: Path) -> None:
    installed(prefix, "pandas-1.5.0", "pandas.py")
    path = prefix / SITE_PACKAGES / "pandas.py"
    path.unlink()
    path.symlink_to("numpy/__init__.py")
    assert split(prefix)[1] == [f"{SITE_PACKAGES}/pandas.py"]


@pytest.mark.parametrize("name", ["numpy-1.23.5", "NumPy-1.23.5"])
def test_a_locked_package_that_pip_replaced_is_damage(name: str, prefix: Path) -> None:
    installed(prefix, name, "numpy/more.py")
    name = name.partition("-")[0]
    assert split(prefix) == (
        [],
        [f"{name} 1.23.5, installed by pip, replaces the locked {name} 1.22.4"],
    )


def test_a_record_gives_no_leave_outside_the_environment_or_for_locked_files(prefix: Path) -> None:
    names = ("/etc/passwd", "../../../../outside", "numpy/__init__.py", "", "\0")
    installed(prefix, "pandas-1.5.0", "pandas.py")
    record = prefix / SITE_PACKAGES / "pandas-1.5.0.dist-info/RECORD"
    record.write_text(record.read_text() + "".join(f"{name},,\n" for name in names))
    assert split(prefix) == (["pandas 1.5.0 by pip (3 files)"], [])
    add(prefix, f"{SITE_PACKAGES}/numpy/__init__.py", "changed", 0o555)
    assert len(manifest.compare(str(prefix)).differences) == 1


def conda_record(prefix: Path, content: object) -> None:
    add(prefix, "conda-meta/zlib-1.2-0.json", json.dumps(content))


def test_what_another_conda_client_installed_is_the_users(prefix: Path) -> None:
    add(prefix, "lib/libmore.so")
    conda_record(prefix, {"name": "zlib", "version": "1.2", "files": ["lib/libmore.so"]})
    assert split(prefix) == (["zlib 1.2 by conda (2 files)"], [])
    conda_record(prefix, {"name": "numpy", "version": "2.0", "files": ["lib/libmore.so"]})
    assert split(prefix)[1] == ["numpy 2.0, installed by conda, replaces the locked numpy 1.22.4"]


@pytest.mark.parametrize("content", [[], {}, {"name": "zlib", "version": "1", "files": 3}, "x"])
def test_a_damaged_conda_record_is_damage(content: object, prefix: Path) -> None:
    conda_record(prefix, content)
    assert split(prefix) == ([], ["conda-meta/zlib-1.2-0.json"])


def test_compiled_python_is_the_users(prefix: Path) -> None:
    add(prefix, f"{SITE_PACKAGES}/numpy/__pycache__/__init__.cpython-39.pyc")
    add(prefix, f"{SITE_PACKAGES}/numpy/__init__.pyc")
    assert split(prefix) == (["2 compiled Python files"], [])
    # Python imports this one, which has no source.
    add(prefix, f"{SITE_PACKAGES}/sitecustomize.pyc")
    (prefix / SITE_PACKAGES / "__pycache__").symlink_to("/tmp")
    assert split(prefix)[1] == [
        f"{SITE_PACKAGES}/__pycache__",
        f"{SITE_PACKAGES}/sitecustomize.pyc",
    ]


@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_a_record_that_would_never_end_is_not_read(kind: str, prefix: Path) -> None:
    installed(prefix, "pandas-1.5.0", "pandas.py")
    record = prefix / SITE_PACKAGES / "pandas-1.5.0.dist-info/RECORD"
    record.unlink()
    if kind == "pipe":
        os.mkfifo(record)
    else:
        record.symlink_to("/dev/zero")
    assert f"{SITE_PACKAGES}/pandas.py" in split(prefix)[1]


@pytest.mark.parametrize(
    "content",
    [
        {"name": 1, "version": "1", "files": []},
        {"name": "zlib", "version": {}, "files": []},
        {"name": "zlib", "version": "1", "files": ["\ud800"]},
        {"name": "zlib", "version": "1", "files": {"lib/odd": 1}},
    ],
)
def test_a_conda_record_of_wrong_types_is_damage(content: object, prefix: Path) -> None:
    conda_record(prefix, content)
    assert split(prefix) == ([], ["conda-meta/zlib-1.2-0.json"])


def test_a_conda_record_of_too_many_levels_is_damage(prefix: Path) -> None:
    add(prefix, "conda-meta/zlib-1.2-0.json", "[" * 200_000)
    assert split(prefix) == ([], ["conda-meta/zlib-1.2-0.json"])


def test_a_name_of_a_conda_record_writes_no_lines(prefix: Path) -> None:
    conda_record(prefix, {"name": "a\npass", "version": "\x1b[2J", "files": []})
    assert split(prefix) == (["a?pass ?[2J by conda (1 files)"], [])
