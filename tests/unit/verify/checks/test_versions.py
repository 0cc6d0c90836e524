"""Installed packages against the locked ones."""

import importlib
import json
import platform
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import context

versions = importlib.import_module("verify.checks.versions")


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution, a conda package, and two modules."""
    (tmp_path / "some_dist-1.2.3+cpu.dist-info").mkdir()
    (tmp_path / "conda-meta").mkdir()
    record = {"name": "libblas", "version": "3.9"}
    (tmp_path / "conda-meta/libblas-3.9-0.json").write_text(json.dumps(record))
    (tmp_path / "va_module.py").write_text("__version__ = '2.0'")
    (tmp_path / "va_plain.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(versions.sys, "prefix", str(tmp_path))


def expectation(*packages: dict[str, str], version: str = "1.0.5") -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "variant": "v",
        "framework": "f",
        "module": "theano",
        "version": version,
        "packages": [{"name": "python", "version": "ignored"}, *packages],
    }


def package(name: str, version: str, module: str | None = None) -> dict[str, str]:
    return {"name": name, "version": version, **({"module": module} if module else {})}


def test_a_diagnosis_has_no_lock_to_compare_with() -> None:
    assert versions.check(context()).status == "skip"


def test_versions_of_distributions_conda_packages_and_modules() -> None:
    locked = expectation(
        package("Some.Dist", "1.2.3"),
        package("libblas", "3.9"),
        package("another", "2.0", module="va_module"),
        package("unknown", "1"),
    )
    check = versions.check(context(expectation=locked))
    assert (check.status, check.detail) == ("pass", "5 as locked, 1 without a version")


def test_other_versions_than_the_locked_ones_fail() -> None:
    locked = expectation(
        package("some-dist", "9"), package("another", "1.0", module="va_module"), version="0.8.2"
    )
    check = versions.check(context(expectation=locked))
    assert check.detail == (
        "theano 1.0.5, locked: 0.8.2; some-dist 1.2.3+cpu, locked: 9; another 2.0, locked: 1.0"
    )
    assert check.fix == "put the files back:\n./invoke build --variant v --framework f --repair"


@pytest.mark.parametrize("module", ["va_missing", "va_plain"])
def test_a_package_whose_module_is_missing_or_has_no_version_fails(module: str) -> None:
    locked = expectation(package("another", "1.0", module=module))
    assert versions.check(context(expectation=locked)).detail == "another is missing"


def test_a_module_of_another_version_than_its_metadata_fails() -> None:
    locked = expectation(package("some-dist", "1.2.3", module="va_module"))
    assert versions.check(context(expectation=locked)).detail == (
        "some-dist 1.2.3+cpu and 2.0, locked: 1.2.3"
    )


def test_the_packages_of_a_diagnosis_are_those_that_are_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(versions, "DIAGNOSED", ("some-dist", "not-installed"))
    assert versions.packages(context()) == [
        {"name": "python", "version": platform.python_version(), "sha256": None},
        {"name": "theano", "version": "1.0.5", "sha256": None},
        {"name": "some-dist", "version": "1.2.3+cpu", "sha256": None},
    ]


def test_the_packages_of_a_lock_are_reported_with_their_digests() -> None:
    locked = {"packages": [{**package("numpy", "1"), "sha256": "00", "manager": "pip"}]}
    assert versions.packages(context(expectation=locked)) == [
        {"name": "numpy", "version": "1", "sha256": "00"}
    ]


def test_a_framework_or_numpy_from_elsewhere_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions.site, "getusersitepackages", lambda: str(tmp_path / "home"))
    monkeypatch.setattr(versions.sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "checkout"))
    for name, folder, fix in (
        ("numpy", "environment/lib", None),
        ("numpy", "home", "export PYTHONNOUSERSITE=1"),
        ("theano", "checkout", "unset PYTHONPATH"),
        (
            "theano",
            "environment-2",
            "put the files back:\n./invoke build --variant v --framework f --repair",
        ),
    ):
        path = tmp_path / folder / name / "__init__.py"
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(__file__=str(path)))
        check = versions.check(context(expectation=expectation()))
        if fix:
            assert (
                check.detail == f"{name} comes from {tmp_path / folder}, not from this environment"
            )
            assert check.fix.endswith(fix)
            monkeypatch.delitem(sys.modules, name)
        else:
            assert check.status == "pass"


def test_a_package_that_is_a_link_in_the_environment_is_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place := tmp_path / "environment/numpy").mkdir(parents=True)
    (kept := tmp_path / "packages/numpy/__init__.py").parent.mkdir(parents=True)
    kept.touch()
    (place / "__init__.py").symlink_to(kept)
    monkeypatch.setattr(versions.sys, "prefix", str(tmp_path / "environment"))
    module = SimpleNamespace(__file__=str(place / "__init__.py"))
    monkeypatch.setitem(sys.modules, "numpy", module)
    assert versions.check(context(expectation=expectation())).status == "pass"


def test_two_distributions_of_one_name_fail(tmp_path: Path) -> None:
    # As pip leaves them where it does not find the RECORD of the first.
    (tmp_path / "Some.Dist-1.10.dist-info").mkdir()
    locked = expectation(package("some-dist", "1.2.3"))
    check = versions.check(context(expectation=locked))
    assert (check.status, check.detail) == ("fail", "some-dist 1.10 and 1.2.3+cpu, locked: 1.2.3")


def test_an_imported_module_of_another_version_than_its_metadata_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(versions, "DIAGNOSED", ("some-dist",))
    monkeypatch.setitem(sys.modules, "some-dist", SimpleNamespace(__version__="9"))
    locked = expectation(package("some-dist", "1.2.3"))
    assert versions.check(context(expectation=locked)).detail == (
        "some-dist 1.2.3+cpu and 9, locked: 1.2.3"
    )
