"""The check of an environment's files, and the program that does it by another Python."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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

files = importlib.import_module("verify.checks.files")

SUITE = REPOSITORY / "verify"
COMMAND = "./invoke build --variant openblas --repair"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return environment(tmp_path / "environment")


def verified(prefix: Path, *more: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SUITE, "files", "--prefix", prefix, *more],
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_environment_as_installed_passes_and_lists_what_its_user_added(prefix: Path) -> None:
    for path, content, detail in (
        (None, "", "8 as installed"),
        (f"{SITE_PACKAGES}/numpy/__pycache__/a.pyc", "", "8 as installed; 1 compiled Python files"),
        (
            f"{SITE_PACKAGES}/pandas-1.5.0.dist-info/INSTALLER",
            "pip\n",
            "8 as installed; added by you: pandas 1.5.0 by pip (1 files); 1 compiled Python files",
        ),
    ):
        if path:
            add(prefix, path, content)
        check = files.check_prefix(str(prefix), expectation())
        assert (check.status, check.detail) == ("pass", detail)


def test_every_damaged_file_is_in_the_detail(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (prefix / "bin/python").chmod(0o755)
    (prefix / "lib/libz.so").unlink()
    add(prefix, "lib/more")
    monkeypatch.setattr(files.sys, "base_prefix", str(prefix))
    assert files.check(context()).status == "skip"
    check = files.check(context(expectation=expectation(), full=False))
    assert (check.status, check.fix) == ("fail", f"put the files back:\n{COMMAND}")
    assert check.detail.splitlines() == [
        "3 differences from what was installed",
        "lib/more: extra",
        "bin/python: changed: mode 755, not 555",
        "lib/libz.so: missing",
    ]


def test_an_image_is_not_repaired(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.fixes.process, "SUITE", "/opt/share/verify")
    (prefix / MANIFEST).unlink()
    check = files.check_prefix(str(prefix), expectation())
    assert check.fix == "start a new container from the image, by its digest"


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
    assert [check["name"] for check in content["checks"]] == ["files"]


def test_a_long_list_is_whole_in_the_report_only(prefix: Path, tmp_path: Path) -> None:
    for number in range(30):
        add(prefix, f"lib/more{number:02}")
    done = verified(prefix, "--json", tmp_path / "report.json")
    assert "lib/more06: extra" in done.stdout and "lib/more07" not in done.stdout
    assert "and 23 more: --json FILE has all" in done.stdout
    [check] = json.loads((tmp_path / "report.json").read_text())["checks"]
    assert check["detail"].count(": extra") == 30


def without_expectation(prefix: Path) -> None:
    (prefix / EXPECTATION).unlink()


def other_schema(prefix: Path) -> None:
    add(prefix, EXPECTATION, "{}", 0o555)
    write_manifest(prefix)


@pytest.mark.parametrize(
    ("damage", "status", "message"),
    [
        (without_expectation, 1, f"{EXPECTATION}: "),
        (lambda prefix: add(prefix, EXPECTATION, "{", 0o555), 1, f"{EXPECTATION}: "),
        (lambda prefix: add(prefix, EXPECTATION, "{}", 0o555), 1, f"{EXPECTATION}: "),
        (lambda prefix: (prefix / MANIFEST).unlink(), 1, f"{MANIFEST} is missing"),
        (lambda prefix: add(prefix, MANIFEST, "{}"), 1, f"{MANIFEST} is damaged: its first line"),
        (other_schema, 2, "is missing"),
    ],
)
def test_what_the_builder_has_written_may_be_damaged_too(
    damage: Callable[[Path], object], status: int, message: str, prefix: Path, tmp_path: Path
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


def test_it_imports_neither_numpy_nor_a_framework() -> None:
    code = "import sys; sys.path[:0] = sys.argv[1:]; sys.dont_write_bytecode = True\n"
    code += "import verify.checks.files\n"
    code += "print(sorted(set(sys.modules) & {'numpy', 'theano', 'aesara', 'pytensor'}))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(REPOSITORY)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_packages_that_a_user_has_added_are_listed(prefix: Path) -> None:
    info = f"{SITE_PACKAGES}/pandas-1.5.0.dist-info"
    add(prefix, f"{SITE_PACKAGES}/pandas.py")
    add(prefix, f"{info}/INSTALLER", "pip\n")
    add(prefix, f"{info}/RECORD", "pandas.py,,\nnumpy/__init__.py,,\n../../../../outside,,\n")
    done = verified(prefix, "--list-added")
    assert (done.returncode, done.stderr) == (0, "")
    # A record may name a file of a locked package, and one outside: neither is the user's.
    names = [f"{info}/INSTALLER", f"{SITE_PACKAGES}/pandas.py"]
    assert json.loads(done.stdout) == [["pandas", "1.5.0", "pip", names]]
    add(prefix, MANIFEST, "{}")
    done = verified(prefix, "--list-added")
    assert (done.returncode, done.stdout, done.stderr) == (0, "null\n", "")
