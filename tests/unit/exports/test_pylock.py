from __future__ import annotations

import sys

import pytest

from stacks.core.errors import UsageError
from stacks.exports import pylock
from unit.exports.conftest import MakeSubject

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_each_file_by_path_size_and_hash(subject: MakeSubject) -> None:
    default = subject("pip-default")
    content = tomllib.loads(pylock.export(default).files["pylock.toml"])
    assert content["lock-version"] == "1.0"
    assert content["requires-python"] == ">=3.9,<3.10"
    files = {}
    for package in content["packages"]:
        file = package["sdist"] if "sdist" in package else package["wheels"][0]
        path, digest = file["path"], file["hashes"]["sha256"]
        files[path] = (package["name"], package["version"], file["size"], digest)
    assert files == {
        f"files/{pin.filename}": (pin.name, pin.version, pin.size, pin.sha256)
        for pin in default.lock.requirements
    }
    assert "://" not in pylock.export(default).files["pylock.toml"]


def test_the_settings_of_the_framework(subject: MakeSubject) -> None:
    export = pylock.export(subject("pip-default", "pytensor-3.3.7"))
    assert sorted(export.files) == ["pylock.toml", "pytensorrc"]
    assert "[blas]\nldflags = \n" in export.files["pytensorrc"]
    assert "PYTENSORRC={to}/pytensorrc python train.py" in export.usage


def test_python_2_is_refused(subject: MakeSubject) -> None:
    with pytest.raises(UsageError, match=r"Python 2\.7 reads it(?s:.)*--as requirements"):
        pylock.export(subject("pip-default", "theano-0.8.2"))


def test_conda_packages_are_refused(subject: MakeSubject) -> None:
    with pytest.raises(UsageError, match="is not available as pylock"):
        pylock.export(subject("mkl"))
