"""An image's archive, and the layers in it: the same bytes everywhere."""

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import DiskError, IntegrityError, UsageError
from stacks.core.reproducible import EPOCH
from stacks.image import files, layout, oci
from stacks.image.layout import Layers
from stacks.image.metadata import config_of
from stacks.variants.load import load_variant
from unit.helpers.checkout import CHECKOUT
from unit.helpers.environments import add

VARIANT = load_variant(CHECKOUT, "openblas")
CONFIG = config_of(CHECKOUT, VARIANT)


def lay_out(place: Path) -> Layers:
    """Make two small layers, as layout.lay_out does large ones."""
    (place / "packages/opt/theano").mkdir(parents=True)
    (place / "packages/opt/theano/python").write_text("python" * 1000)
    (place / "settings/opt/theano/share").mkdir(parents=True)
    for folder in (place / "packages", place / "settings"):
        files.normalise(folder)
    return layout.record(place, "k")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a base."""
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "root/etc/passwd").write_text("root\n")
    files.normalise(tmp_path / "root")
    (tmp_path / "base.tar").write_bytes(packed(tmp_path / "root"))
    return tmp_path / "base.tar"


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return lay_out(tmp_path / "my layers")


def packed(folder: Path) -> bytes:
    out = io.BytesIO()
    files.write(folder, out)
    return out.getvalue()


def blob(read: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    """Return what a descriptor names, having checked that it is that."""
    data = read[f"blobs/{descriptor['digest'].replace(':', '/')}"]
    assert f"sha256:{hashlib.sha256(data).hexdigest()}" == descriptor["digest"]
    assert len(data) == descriptor["size"]
    return data


def test_the_layout_holds_the_layers_and_how_they_start(
    root: Path, layers: Layers, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    digest, config_digest = oci.pack(CONFIG, root, layers, tmp_path / "out/layers")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["layers"], "any name will do"
    with tarfile.open(tmp_path / "out/layers") as archive:
        # Apptainer makes no parent folders for others than root.
        folders = [entry.name for entry in archive if entry.isdir() and entry.mode == 0o755]
        assert archive.getnames()[3:5] == folders == ["blobs", "blobs/sha256"]
        read = {
            entry.name: archive.extractfile(entry).read()  # type: ignore[union-attr]
            for entry in archive
            if entry.isfile()
        }
    assert json.loads(read["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    # Of two Apptainer takes neither.
    [first] = json.loads(read["index.json"])["manifests"]
    assert first["digest"] == digest
    assert first["annotations"]["org.opencontainers.image.ref.name"] == "1.0.5"
    manifest = json.loads(blob(read, first))
    assert manifest["config"]["digest"] == config_digest
    config = json.loads(blob(read, manifest["config"]))
    plain = [gzip.decompress(blob(read, layer)) for layer in manifest["layers"]]
    assert config["rootfs"]["diff_ids"] == [
        f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in plain
    ]
    assert plain[0] == root.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(plain[1])) as layer:
        assert layer.getnames() == ["opt", "opt/theano", "opt/theano/python"]
    assert [one["comment"] for one in config["history"]] == ["base", "packages", "settings"]
    environment = [f"{name}={value}" for name, value in CONFIG.environment.items()]
    assert config["config"] == {
        "User": CONFIG.user,
        "WorkingDir": CONFIG.workdir,
        "Env": environment,
        "Entrypoint": list(CONFIG.entrypoint),
        "Labels": CONFIG.labels,
    }
    # For `docker load`.
    [image] = json.loads(read["manifest.json"])
    assert image["RepoTags"] == ["theano-openblas:1.0.5", "theano-openblas:latest"]
    assert len(image["Layers"]) == 3 and {*image["Layers"], image["Config"]} <= set(read)


def test_long_layers_are_compressed_in_parts(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK", 1000)
    (tmp_path / "out").mkdir()
    [layer] = files.compress({"base": root}, tmp_path / "out")
    data = (tmp_path / "out/base").read_bytes()
    assert gzip.decompress(data) == root.read_bytes()
    assert (layer.size, layer.digest) == (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")


def test_content_that_has_changed_since_is_not_packed(
    root: Path, layers: Layers, tmp_path: Path
) -> None:
    """Nor a mode, as of a `chmod -R` on the checkout. The command of the fix can be pasted."""
    path = layers.folder / "packages/opt/theano/python"
    for change in (lambda: path.chmod(0o755), lambda: path.write_text("changed")):
        change()
        with pytest.raises(IntegrityError, match="packages changed after it was made") as caught:
            oci.pack(CONFIG, root, layers, tmp_path / "image.tar")
        assert f"rm -r '{layers.folder}', then" in str(caught.value)
        assert not (tmp_path / "image.tar").exists()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("missing/image.tar", r"(?s)missing is no folder.*mkdir -p"),
        ("", r"(?s)is a folder.*/image.tar"),
    ],
)
def test_a_target_that_cannot_be(target: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        oci.write(CHECKOUT, VARIANT, tmp_path / target)


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_archive_that_is_not_finished_leaves_the_old_one(
    root: Path,
    layers: Layers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/image.tar").write_text("old")

    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(tarfile.TarFile, "addfile", fail)
    with pytest.raises(KeyboardInterrupt if isinstance(fault, KeyboardInterrupt) else DiskError):
        oci.pack(CONFIG, root, layers, tmp_path / "out/image.tar")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["image.tar"]
    assert (tmp_path / "out/image.tar").read_text() == "old"


def test_layers_that_are_removed_while_they_are_packed(
    root: Path, layers: Layers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compress = files.compress

    def compressed(contents: Any, folder: Path) -> Any:
        blobs = compress(contents, folder)
        shutil.rmtree(folder)
        return blobs

    monkeypatch.setattr(files, "compress", compressed)
    with pytest.raises(DiskError, match=r"/layers-\S+ was removed meanwhile"):
        oci.pack(CONFIG, root, layers, tmp_path / "image.tar")


def make(root: Path, names: list[str]) -> None:
    for name in names:
        add(root, name, name)
    add(root, "b/program", "#!/bin/sh\n", 0o6700)
    (root / "link").symlink_to("b/program")
    (root / "home").mkdir(mode=0o700)


def test_the_same_files_give_the_same_layer_whatever_umask_clock_and_order(tmp_path: Path) -> None:
    """It keeps programs, links and modes, and belongs to root."""
    one, other = tmp_path / "one", tmp_path / "a b" / "other"
    names = ["a.txt", "b/c.txt", "b-c.txt"]
    make(one, names)
    before = os.umask(0o077)
    try:
        make(other, names[::-1])
    finally:
        os.umask(before)
    os.utime(other / "a.txt", (1, 1))
    for root in (one, other):
        files.normalise(root, {"home": 0o1777})
        assert {path.lstat().st_mtime for path in (root, *root.rglob("*"))} == {EPOCH}
    assert packed(one) == packed(other)
    with tarfile.open(fileobj=io.BytesIO(packed(one))) as tar:
        found = {entry.name: entry for entry in tar}
    assert list(found) == ["a.txt", "b", "b/c.txt", "b/program", "b-c.txt", "home", "link"]
    modes = {name: found[name].mode for name in ("a.txt", "b", "b/program", "home")}
    assert modes == {"a.txt": 0o644, "b": 0o755, "b/program": 0o755, "home": 0o1777}
    assert (found["link"].issym(), found["link"].linkname) == (True, "b/program")
    assert {(entry.uid, entry.gid, entry.mtime) for entry in found.values()} == {(0, 0, EPOCH)}


@pytest.mark.parametrize("text", [None, "", "[]", '{"key": "key"}', '{"key": 1, "digests": 2}'])
def test_layers_are_read_as_they_were_sealed(layers: Layers, text: str | None) -> None:
    """A damaged record is one of no layers."""
    assert layout.read(layers.folder) == layers
    digest = hashlib.sha256(packed(layers.folder / "settings")).hexdigest()
    assert layers.digests["settings"] == f"sha256:{digest}"
    (layers.folder / layout.RECORD).unlink()
    if text is not None:
        (layers.folder / layout.RECORD).write_text(text)
    assert layout.read(layers.folder) is None
