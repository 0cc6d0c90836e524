"""The check of an environment's files, and the program that does it by another Python."""

import csv
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from integration.programs import called

from stacks.core.disk import REPOSITORY
from stacks.environments.make.contents import write_manifest
from unit.helpers.environments import (
    EXPECTATION,
    MANIFEST,
    SITE_PACKAGES,
    add,
    environment,
    expectation,
)
from unit.helpers.verification import context
from verify.checks import files
from verify.core.expectation import sealed_text

SUITE = REPOSITORY / "verify"
EXPECTED = expectation()
COMMAND = "./invoke build --variant openblas --repair"
INFO = f"{SITE_PACKAGES}/pandas-1.5.0.dist-info"
ADDED = "8 as installed; added by you: %s by %s (%d files)"
Damage = Callable[[Path], object]


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return environment(tmp_path / "environment")


def verified(prefix: Path, *more: str | Path) -> subprocess.CompletedProcess[str]:
    return called([sys.executable, SUITE, "files", "--prefix", prefix, *more])


def found(prefix: Path) -> list[str]:
    """Return what the check finds: that the files are as installed, or each difference."""
    lines: list[str] = files.check_prefix(str(prefix), EXPECTED).detail.splitlines()
    return lines[1:] or lines


def test_damage_is_named_and_undone_where_files_can_be_put_back(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (prefix / "bin/python").chmod(0o755)
    (prefix / "lib/libz.so").unlink()
    add(prefix, "lib/more")
    monkeypatch.setattr(files.sys, "base_prefix", str(prefix))
    assert files.check(context()).status == "skip"
    found = context(expectation=EXPECTED, full=False)
    check = files.check(found)
    assert (check.status, check.fix) == ("fail", f"put the files back:\n{COMMAND}")
    assert check.detail.splitlines() == [
        "3 differences from what was installed",
        "bin/python: changed: mode 755, not 555",
        "lib/libz.so: missing",
        "lib/more: extra",
    ]
    assert files.fixes.repair_of(found) == check.fix
    # An image is not repaired.
    monkeypatch.setattr(files.fixes.process, "SUITE", "/opt/share/verify")
    check = files.check_prefix(str(prefix), EXPECTED)
    assert check.fix == "start a new container from the image, by its digest"


@pytest.mark.parametrize("full", [False, True])
def test_what_is_whole_has_no_fix_that_puts_files_back(
    full: bool, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.sys, "base_prefix", str(prefix))
    checked = context(expectation=dict(EXPECTED), full=full)
    installed(prefix, "pandas-1.5.0", "pandas.py")
    assert files.check(checked).status == "pass"
    # What the user has added may be the reason.
    assert COMMAND in files.fixes.repair_of(checked)
    shutil.rmtree(prefix / SITE_PACKAGES / "pandas-1.5.0.dist-info")
    (prefix / SITE_PACKAGES / "pandas.py").unlink()
    files.check(checked)
    end = "as they were installed" if full else "installed; --full reads each of them again"
    assert files.fixes.repair_of(checked).endswith(end)


def test_a_folder_of_files_is_one_difference(prefix: Path) -> None:
    for name in ("a/one", "a/b/two", "b/c/d", "pandas/own"):
        add(prefix, f"{SITE_PACKAGES}/{name}")
    installed(prefix, "pandas-1.5.0", "pandas/__init__.py")
    problems = ("a: extra, with 2 files", "b: extra, with 1 file", "pandas/own: extra")
    assert found(prefix) == [f"{SITE_PACKAGES}/{each}" for each in problems]


def test_a_folder_that_was_moved_does_not_hide_what_has_taken_its_place(prefix: Path) -> None:
    (prefix / "lib").rename(prefix / "lib-before")
    (prefix / "lib").symlink_to("lib-before")
    lines = ["lib: changed: a link, not a folder", "lib-before: extra, with 5 files"]
    assert found(prefix) == lines


def installed(prefix: Path, name: str, *names: str, by: str | None = "pip") -> Path:
    """Install a distribution with these files, relative to site-packages; return its record."""
    info = f"{name}.dist-info"
    every = [*names, f"{info}/RECORD", *([f"{info}/INSTALLER"] if by is not None else [])]
    for file in every:
        add(prefix, f"{SITE_PACKAGES}/{file}", f"{by}\n")
    path = prefix / SITE_PACKAGES / info / "RECORD"
    with path.open("w") as record:
        csv.writer(record).writerows([file, "", ""] for file in every)
    return path


@pytest.mark.parametrize("installer", ["pip", "uv", "", "conda", "a program", None])
def test_what_a_known_installer_has_recorded_is_the_users(
    installer: str | None, prefix: Path
) -> None:
    installed(prefix, "pandas-1.5.0", "a.py", "a,b.py", "../../../bin/x", by=installer)
    if installer in ("pip", "uv"):
        assert found(prefix) == [ADDED % ("pandas 1.5.0", installer, 5)]
    else:
        assert f"{SITE_PACKAGES}/a.py: extra" in found(prefix)


def test_a_record_gives_no_leave_outside_the_environment_or_for_locked_files(prefix: Path) -> None:
    names = ("/etc/passwd", "../../../../outside", "numpy/__init__.py", "", "\0")
    record = installed(prefix, "pandas-1.5.0", "pandas.py")
    record.write_text(record.read_text() + "".join(f"{name},,\n" for name in names))
    assert found(prefix) == [ADDED % ("pandas 1.5.0", "pip", 3)]
    # A file that no record names, and a link that one names.
    add(prefix, f"{SITE_PACKAGES}/numpy/__init__.py", "changed", 0o555)
    add(prefix, f"{SITE_PACKAGES}/more.pth", "import os")
    (path := prefix / SITE_PACKAGES / "pandas.py").unlink()
    path.symlink_to("numpy/__init__.py")
    assert found(prefix) == [
        f"{SITE_PACKAGES}/numpy/__init__.py: changed: 7 bytes, not 23",
        f"{SITE_PACKAGES}/more.pth: extra",
        f"{SITE_PACKAGES}/pandas.py: extra",
    ]
    # Records that would never end are not read.
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        record.unlink()
        make(record)
        assert f"{INFO}/RECORD: extra" in found(prefix)


CONDA, MORE = "conda-meta/zlib-1.2-0.json", "lib/libmore.so"
LIBMORE = {"version": "1.2", "files": [MORE]}
BAD_RECORDS: list[object] = [
    [],
    {"name": 1, "version": "1", "files": []},
    {"name": "zlib", "version": "1", "files": ["\ud800"]},
    {"name": "zlib", "version": "1", "files": {"lib/odd": 1}},
]
REPLACES = "%s, installed by %s, replaces the locked %s 1.22.4"


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ({"name": "zlib", **LIBMORE}, [ADDED % ("zlib 1.2", "conda", 2)]),
        ({"name": "numpy", **LIBMORE}, [REPLACES % ("numpy 1.2", "conda", "numpy")]),
        (
            {"name": "a\npass", "version": "\x1b[2J", "files": [MORE]},
            [ADDED % ("a?pass ?[2J", "conda", 2)],
        ),
        *((record, [f"{CONDA}: extra", f"{MORE}: extra"]) for record in BAD_RECORDS),
    ],
)
def test_what_another_conda_client_installed_is_the_users(
    content: object, lines: list[str], prefix: Path
) -> None:
    add(prefix, MORE)
    add(prefix, CONDA, json.dumps(content))
    assert found(prefix) == lines


def test_a_locked_package_that_pip_replaced_is_damage(prefix: Path) -> None:
    installed(prefix, "NumPy-1.23.5", "numpy/more.py")
    assert found(prefix) == [REPLACES % ("NumPy 1.23.5", "pip", "NumPy")]


def test_compiled_python_is_the_users(prefix: Path) -> None:
    add(prefix, f"{SITE_PACKAGES}/numpy/__pycache__/__init__.cpython-39.pyc")
    add(prefix, f"{SITE_PACKAGES}/numpy/__init__.pyc")
    assert found(prefix) == ["8 as installed; 2 compiled Python files"]
    # Python imports these, which have no source, or one that is never read again.
    add(prefix, f"{SITE_PACKAGES}/sitecustomize.pyc")
    add(prefix, f"{SITE_PACKAGES}/numpy/__pycache__/version.cpython-39.pyc", "a\r\r\n\1\0\0\0")
    (prefix / SITE_PACKAGES / "__pycache__").symlink_to("/tmp")
    names = ("__pycache__", "numpy/__pycache__/version.cpython-39.pyc", "sitecustomize.pyc")
    assert found(prefix) == [f"{SITE_PACKAGES}/{name}: extra" for name in names]


def test_a_changed_python_is_named_and_never_started(prefix: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = verified(prefix, "--json", report)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not report.exists()
    add(prefix, "bin/python", "#!/bin/sh\ntouch started\n", 0o555)
    done = verified(prefix, "--json", report)
    assert done.returncode == 1
    assert done.stdout == (
        "fail  files  1 difference from what was installed\n"
        "             bin/python: changed: 24 bytes, not 19\n"
        "      fix: put the files back:\n"
        f"           {COMMAND}\n"
    )
    content = json.loads(report.read_text())
    jsonschema = importlib.import_module("jsonschema")
    jsonschema.validate(content, json.loads((SUITE / "report.schema.json").read_text()))
    assert content["ok"] is False and content["variant"] == "openblas"
    # A long list is whole in the report only.
    for number in range(30):
        add(prefix, f"lib/more{number:02}")
    done = verified(prefix, "--json", report)
    assert "lib/more05: extra" in done.stdout and "lib/more06" not in done.stdout
    assert "and 24 more: --json FILE has all" in done.stdout
    [check] = json.loads(report.read_text())["checks"]
    assert check["detail"].count(": extra") == 30


def other_schema(prefix: Path) -> None:
    add(prefix, EXPECTATION, "{}", 0o555)
    write_manifest(prefix)


def manifest_of(content: object) -> Damage:
    return lambda prefix: (prefix / MANIFEST).write_bytes(sealed_text(content))


@pytest.mark.parametrize(
    ("damage", "status", "message"),
    [
        (lambda prefix: (prefix / EXPECTATION).unlink(), 1, f"{EXPECTATION}: "),
        (lambda prefix: add(prefix, EXPECTATION, "{", 0o555), 1, f"{EXPECTATION}: "),
        (lambda prefix: add(prefix, EXPECTATION, "{}", 0o555), 1, f"{EXPECTATION}: "),
        (lambda prefix: (prefix / MANIFEST).unlink(), 1, f"{MANIFEST} is missing"),
        (lambda prefix: add(prefix, MANIFEST, "{}"), 1, f"{MANIFEST} is damaged: its first line"),
        (manifest_of([]), 1, f"{MANIFEST} is damaged: it has another form"),
        (manifest_of({"\ud800": ["link", "a"]}), 1, f"{MANIFEST} is damaged: it has another form"),
        (other_schema, 2, "is missing"),
    ],
)
def test_what_the_builder_has_written_may_be_damaged_too(
    damage: Damage, status: int, message: str, prefix: Path, tmp_path: Path
) -> None:
    damage(prefix)
    done = verified(prefix, "--json", tmp_path / "report.json")
    assert done.returncode == status and message in done.stdout + done.stderr
    # Without the expectation nothing names the environment.
    is_named = EXPECTATION not in message and status == 1
    assert (tmp_path / "report.json").exists() is is_named


def test_another_folder_cannot_be_checked(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        done = verified(folder)
        assert done.returncode == 2 and "is not an environment" in done.stderr
