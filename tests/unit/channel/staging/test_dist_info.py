from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import shutil
from pathlib import Path

import pytest

from stacks.channel.staging.dist_info import normalised, write_record
from stacks.core.errors import IntegrityError


def package(root: Path, site: str, name: str = "Some-A.b_c", version: str = "1.0") -> Path:
    """Write a package of a module and a script, and return its dist-info."""
    dist_info = root / site / "x.dist-info"
    dist_info.mkdir(parents=True)
    (dist_info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (root / site / "a.py").write_text("a = 1\n")
    scripts = root / ("bin" if site.startswith("lib") else "python-scripts")
    scripts.mkdir()
    (scripts / "tool").write_text("#!/bin/sh\n")
    (root / "share").mkdir()
    (root / "share/licence").write_text("MIT")
    return dist_info


@pytest.mark.parametrize(
    ("name", "version", "folder"),
    [
        ("MarkupSafe", "2.1.3", "markupsafe-2.1.3.dist-info"),
        ("Theano-PyMC", "1.1.2", "theano_pymc-1.1.2.dist-info"),
        ("a.-_b", "1.0-1", "a_b-1.0_1.dist-info"),
        ("a", "1!2.0+cpu", "a-1!2.0+cpu.dist-info"),
    ],
)
def test_the_name_of_the_folder_is_normalised(
    name: str, version: str, folder: str, tmp_path: Path
) -> None:
    dist_info = normalised(package(tmp_path, "site-packages", name, version), "a.whl")
    assert dist_info == tmp_path / "site-packages" / folder
    assert (dist_info / "METADATA").is_file()


@pytest.mark.parametrize("data", [b"", b"Name: a\n", b"Name: a/b\nVersion: 1\n", b"Name: \xff\n"])
def test_broken_metadata_names_the_archive(data: bytes, tmp_path: Path) -> None:
    dist_info = package(tmp_path, "site-packages")
    (dist_info / "METADATA").write_bytes(data)
    with pytest.raises(IntegrityError, match=r"(?s)a-1\.tar\.gz: the package's metadata.*fix"):
        normalised(dist_info, "a-1.tar.gz")


@pytest.mark.parametrize("site", ["site-packages", "lib/python3.9/site-packages"])
def test_the_record_is_that_of_the_installed_package(site: str, tmp_path: Path) -> None:
    """A noarch package's folders site-packages/ and python-scripts/ are mapped at install."""
    root = tmp_path / "package"
    dist_info = normalised(package(root, site), "a.whl")
    write_record(root, dist_info)
    installed = tmp_path / "prefix"
    shutil.copytree(root / site, installed / "lib/python3.9/site-packages")
    scripts = "bin" if site.startswith("lib") else "python-scripts"
    shutil.copytree(root / scripts, installed / "bin")
    shutil.copytree(root / "share", installed / "share")
    [distribution] = importlib.metadata.distributions(
        path=[str(installed / "lib/python3.9/site-packages")]
    )
    assert distribution.read_text("INSTALLER") == "conda\n"
    listed = {}
    for file in distribution.files or ():
        listed[Path(str(file.locate())).resolve()] = file
    assert set(listed) == {path for path in installed.resolve().rglob("*") if path.is_file()}
    for path, file in listed.items():
        if path.name == "RECORD":
            assert file.hash is None and file.size is None
            continue
        digest = hashlib.sha256(path.read_bytes()).digest()
        assert file.hash and file.hash.mode == "sha256"
        assert base64.urlsafe_b64decode(file.hash.value + "=") == digest
        assert file.size == path.stat().st_size


def test_the_record_is_sorted_and_quotes_commas(tmp_path: Path) -> None:
    dist_info = normalised(package(tmp_path, "site-packages"), "a.whl")
    (tmp_path / "site-packages/a, b").touch()
    write_record(tmp_path, dist_info)
    lines = (dist_info / "RECORD").read_text().splitlines()
    assert lines == sorted(lines, key=lambda line: line.strip('"'))
    assert '"a, b",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0' in lines
