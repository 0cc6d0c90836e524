from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from stacks.environments.make import contents
from stacks.environments.make.contents import CheckedFile
from unit.helpers.serving import sha256


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "environment"
    for name in ("bin", "etc/theano-stacks", "var/compiledir", "conda-meta"):
        (folder / name).mkdir(parents=True)
    (folder / "bin/run").write_bytes(b"run")
    (folder / "bin/run").chmod(0o555)
    (folder / "bin/again").symlink_to("./run")
    for name in ("etc/theano-stacks/ready.json", "var/compiledir/x", "conda-meta/history"):
        (folder / name).write_bytes(b"changes")
    contents.write_manifest(folder)
    return folder


def test_the_list_of_an_environments_files(prefix: Path) -> None:
    head, body = (prefix / contents.MANIFEST).read_bytes().split(b"\n", 1)
    assert json.loads(head) == {"schema": 1, "sha256": hashlib.sha256(body).hexdigest()}
    assert json.loads(body) == {
        "bin/again": ["link", "./run"],
        "bin/run": ["file", "555", 3, sha256(b"run")],
    }


def test_a_file_that_was_compared_is_not_read_again_unless_it_changed(prefix: Path) -> None:
    status = (prefix / "bin/run").stat()
    checked = {"bin/run": CheckedFile(status, "of its package")}
    contents.write_manifest(prefix, checked=checked)
    assert listed(prefix)["bin/run"] == ["file", "555", 3, "of its package"]
    os.utime(prefix / "bin/run", ns=(0, status.st_mtime_ns + 1))
    contents.write_manifest(prefix, checked=checked)
    assert listed(prefix)["bin/run"] == ["file", "555", 3, sha256(b"run")]


def listed(prefix: Path) -> dict[str, list[object]]:
    content: dict[str, list[object]] = json.loads(
        (prefix / contents.MANIFEST).read_bytes().split(b"\n", 1)[1]
    )
    return content


def test_the_list_of_an_image_in_layers(prefix: Path, tmp_path: Path) -> None:
    whole = (prefix / contents.MANIFEST).read_bytes()
    (prefix / contents.MANIFEST).unlink()
    layer = tmp_path / "layer"
    (layer / "bin").mkdir(parents=True)
    (prefix / "bin/again").rename(layer / "bin/again")
    (layer / "etc").mkdir()
    (prefix / "etc/theano-stacks").rename(layer / "etc/theano-stacks")
    contents.write_manifest(prefix, layer)
    assert (layer / contents.MANIFEST).read_bytes() == whole


def test_differences_between_environments(prefix: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "bin").mkdir(parents=True)
    (other / "bin/run").write_bytes(b"rum")
    (other / "bin/run").chmod(0o555)
    assert contents.differences(other, prefix) == {"bin/again": "missing", "bin/run": "changed"}
    (other / "bin/again").symlink_to("run")
    (other / "bin/run").chmod(0o755)
    (other / "bin/run").write_bytes(b"run")
    assert contents.differences(other, prefix) == {"bin/again": "changed", "bin/run": "changed"}
    (other / "bin/run").chmod(0o555)
    (other / "bin/again").unlink()
    (other / "bin/again").symlink_to("./run")
    (other / "extra").touch()
    assert contents.differences(other, prefix) == {}


def test_a_file_that_cannot_be_read_is_changed(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(contents, "sha256_of", refuse)
    assert contents.differences(prefix, prefix) == {"bin/run": "changed"}
