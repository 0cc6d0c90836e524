"""The check of an environment's files: what it prints for each outcome."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from unit.helpers.environments import MANIFEST, SITE_PACKAGES, add, environment, expectation
from unit.helpers.verification import context

files = importlib.import_module("verify.checks.files")

FIX = "put the files back:\n./invoke build --variant openblas --framework theano-1.0.5 --repair"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return environment(tmp_path / "environment")


def test_a_diagnosis_has_no_manifest() -> None:
    assert files.check(context()).status == "skip"


def test_an_environment_as_installed_passes_and_lists_what_its_user_added(prefix: Path) -> None:
    check = files.check_prefix(str(prefix), expectation())
    assert (check.status, check.detail) == ("pass", "8 as installed")
    add(prefix, f"{SITE_PACKAGES}/numpy/__pycache__/a.pyc")
    check = files.check_prefix(str(prefix), expectation())
    assert (check.status, check.detail) == ("pass", "8 as installed; 1 compiled Python files")
    add(prefix, f"{SITE_PACKAGES}/pandas-1.5.0.dist-info/INSTALLER", "pip\n")
    check = files.check_prefix(str(prefix), expectation())
    assert check.status == "pass"
    assert "; added by you: pandas 1.5.0 by pip (1 files); 1 compiled" in check.detail


def test_every_damaged_file_is_in_the_detail(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (prefix / "bin/python").chmod(0o755)
    (prefix / "lib/libz.so").unlink()
    add(prefix, "lib/more")
    monkeypatch.setattr(files.sys, "base_prefix", str(prefix))
    check = files.check(context(expectation=expectation(), full=False))
    assert (check.status, check.fix) == ("fail", FIX)
    assert check.detail.splitlines() == [
        "3 differences from what was installed",
        "lib/more: extra",
        "bin/python: changed: mode 755, not 555",
        "lib/libz.so: missing",
    ]


def test_a_damaged_manifest_fails(prefix: Path) -> None:
    (prefix / MANIFEST).write_text("{}")
    check = files.check_prefix(str(prefix), expectation())
    assert (check.status, check.fix) == ("fail", FIX)
    assert check.detail == f"{MANIFEST} is damaged: its first line is not that of its content"


def test_an_image_is_not_repaired(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.fixes.process, "SUITE", "/opt/share/verify")
    (prefix / MANIFEST).unlink()
    check = files.check_prefix(str(prefix), expectation())
    assert check.fix == "start a new container from the image, by its digest"
