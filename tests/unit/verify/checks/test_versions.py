"""Installed packages against the locked ones."""

import importlib
import json
import platform
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import REPAIR, context

versions = importlib.import_module("verify.checks.versions")


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution, two of another name, a conda package, and two modules."""
    for name in ("some_dist-1.2.3+cpu", "twice-1.2", "Twice-1.10"):
        (tmp_path / f"{name}.dist-info").mkdir()
    (tmp_path / "conda-meta").mkdir()
    record = {"name": "libblas", "version": "3.9"}
    (tmp_path / "conda-meta/libblas-3.9-0.json").write_text(json.dumps(record))
    (tmp_path / "va_module.py").write_text("__version__ = '2.0'")
    (tmp_path / "va_plain.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(versions.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(versions, "DIAGNOSED", ("some-dist", "loaded", "not-installed"))
    monkeypatch.setitem(sys.modules, "loaded", SimpleNamespace(__version__="9"))
    (tmp_path / "loaded-1.2.dist-info").mkdir()


def expectation(*packages: str, version: str = "1.0.5") -> dict[str, Any]:
    """Return a lock with packages, `name version` or `name version module` each."""
    keys = ("name", "version", "module")
    return {
        "python": platform.python_version(),
        "variant": "v",
        "framework": "f",
        "module": "theano",
        "version": version,
        "packages": [
            dict(zip(keys, each.split(), strict=False)) for each in ("python -", *packages)
        ],
    }


@pytest.mark.parametrize(
    ("packages", "fault"),
    [
        (["Some.Dist 1.2.3", "libblas 3.9", "another 2.0 va_module", "unknown 1"], None),
        (["some-dist 9"], "some-dist 1.2.3+cpu, locked: 9"),
        (["another 1.0 va_module"], "another 2.0, locked: 1.0"),
        # As pip leaves them where it does not find the RECORD of the first.
        (["twice 1.2"], "twice 1.10 and 1.2, locked: 1.2"),
        # A module, imported already or not, is of another version than its metadata.
        (["some-dist 1.2.3 va_module"], "some-dist 1.2.3+cpu and 2.0, locked: 1.2.3"),
        (["loaded 1.2"], "loaded 1.2 and 9, locked: 1.2"),
        # A module is missing, or has no version.
        (["another 1.0 va_missing"], "another is missing"),
        (["another 1.0 va_plain"], "another is missing"),
    ],
)
def test_versions_of_distributions_conda_packages_and_modules(
    packages: list[str], fault: str | None
) -> None:
    check = versions.check(context(expectation=expectation(*packages)))
    passes = ("pass", "5 as locked, 1 without a version", None)
    assert check[1:4] == (("fail", fault, REPAIR) if fault else passes)


def test_another_framework_than_the_locked_one_fails() -> None:
    check = versions.check(context(expectation=expectation("some-dist 9", version="0.8.2")))
    assert check.detail == "theano 1.0.5, locked: 0.8.2; some-dist 1.2.3+cpu, locked: 9"
    assert versions.check(context()).status == "skip"


@pytest.mark.parametrize(
    ("name", "folder", "fix"),
    [
        ("numpy", "environment/lib", None),
        ("numpy", "home", "export PYTHONNOUSERSITE=1"),
        ("theano", "checkout", "unset PYTHONPATH"),
        ("theano", "environment-2", REPAIR),
    ],
)
def test_a_framework_or_numpy_from_elsewhere_fails(
    name: str, folder: str, fix: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions.site, "getusersitepackages", lambda: str(tmp_path / "home"))
    monkeypatch.setattr(versions.sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "checkout"))
    path = tmp_path / folder / name / "__init__.py"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(__file__=str(path)))
    check = versions.check(context(expectation=expectation()))
    assert check.status == ("fail" if fix else "pass")
    if fix:
        detail = f"{name} comes from {tmp_path / folder}, not from this environment"
        assert check.detail == detail and check.fix.endswith(fix)
