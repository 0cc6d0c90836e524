"""The import of each package that a stack.yaml asks for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from stacks.environments.make import additions
from stacks.variants.variant import Variant
from unit.helpers.environments import SITE_PACKAGES


@pytest.mark.parametrize(
    ("name", "files", "modules"),
    [
        ("six", ["six.py", "six-1.0.dist-info/METADATA"], ["six"]),
        ("Flask-Login", ["flask_login/__init__.py", "flask_login/utils.py"], ["flask_login"]),
        ("scikit-learn", ["sklearn/__init__.py", "sklearn/svm/__init__.py"], ["sklearn"]),
        ("mmh3", ["mmh3.cpython-39-x86_64-linux-gnu.so"], ["mmh3"]),
        ("PyYAML", ["yaml/__init__.py", "_yaml/__init__.py"], ["yaml"]),
        ("setuptools", ["setuptools/__init__.py", "pkg_resources/__init__.py"], ["setuptools"]),
        ("pair", ["b/__init__.py", "a.py", "tests/__init__.py"], ["a", "b"]),
        ("protobuf", ["google/protobuf/__init__.py"], ["google.protobuf"]),
        ("data", ["../../../share/data/x.csv", "x-data/__init__.py", "a/b.py"], []),
    ],
)
def test_the_modules_of_a_distribution(name: str, files: list[str], modules: list[str]) -> None:
    assert additions.modules_of(name, files) == modules


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Give an environment in which `good` and `bad` are pip's, and `Meteo` is conda's."""
    prefix = tmp_path / "environment"
    site = prefix / SITE_PACKAGES
    site.mkdir(parents=True)
    (prefix / "bin").mkdir()
    python = prefix / "bin/python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    for name, text in (("good", ""), ("bad", "import no.such"), ("meteo", "1 / 0")):
        (site / f"{name}.py").write_text(text)
    for name in ("good", "bad"):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(f"{name}.py,,\n{name}-1.0.dist-info/RECORD,,\n")
    (prefix / "conda-meta").mkdir()
    for name in ("meteo", "meteo-data"):
        record = {"name": name, "files": [f"{SITE_PACKAGES}/{name}.py", f"share/{name}"]}
        (prefix / f"conda-meta/{name}-1.0-0.json").write_text(json.dumps(record))
    return prefix


def test_a_package_that_cannot_be_imported_is_named_with_the_reason(
    variant: Variant, prefix: Path
) -> None:
    stack = variant.model_copy(
        update={
            "requests": ("good", "bad[extra]>=1; python_version > '3'", "missing"),
            "declared": {"packages": ["meteo >=1", "meteo-data"]},
        }
    )
    assert additions.import_warnings(stack, prefix) == [
        "warning: bad cannot be imported: ModuleNotFoundError: No module named 'no'; add what has "
        "the module no to `pip:`",
        "warning: meteo cannot be imported: ZeroDivisionError: division by zero",
    ]
    assert additions.import_warnings(variant, prefix) == []
