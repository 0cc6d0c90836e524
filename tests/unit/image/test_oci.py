from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import DiskError, IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.image import docker, layout, oci, packing
from stacks.image.layout import Layers
from stacks.image.metadata import config_of
from stacks.variants.load import load_variant
from unit.helpers.checkout import CHECKOUT

VARIANT = load_variant(CHECKOUT, "openblas")
SBOM = b'{"bomFormat": "CycloneDX"}\n'


def lay_out(place: Path) -> Layers:
    """Make two small layers, as layout.lay_out does large ones."""
    (place / "packages/opt/theano").mkdir(parents=True)
    (place / "packages/opt/theano/python").write_text("python" * 1000)
    for path, text in ((layout.SBOM, b"the base, too"), (layout.SBOM_WITHOUT_BASE, SBOM)):
        document = place / "settings" / path[1:]
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_bytes(text)
    for folder in (place / "packages", place / "settings"):
        packing.normalise(folder)
    return layout.seal(place, "k")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "root/etc/passwd").write_text("root\n")
    packing.normalise(tmp_path / "root")
    with (tmp_path / "base.tar").open("wb") as out:
        packing.write(tmp_path / "root", out)
    return tmp_path / "base.tar"


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    return own_workspace


@pytest.fixture
def build(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the layers laid out below the build folder."""
    build = workspace.build
    made = lay_out(build / "laid-out")
    monkeypatch.setattr(layout, "lay_out", lambda workspace, variant: made)
    return build


def read(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        files = [entry for entry in archive if entry.isfile()]
        return {entry.name: archive.extractfile(entry).read() for entry in files}  # type: ignore[union-attr]


def blob(files: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    """Return what a descriptor names, having checked that it is that."""
    data = files[f"blobs/{descriptor['digest'].replace(':', '/')}"]
    assert f"sha256:{hashlib.sha256(data).hexdigest()}" == descriptor["digest"]
    assert len(data) == descriptor["size"]
    return data


def test_the_layout_holds_the_layers_and_how_they_start(
    workspace: Workspace, build: Path, base: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    digest = oci.write(workspace, VARIANT, tmp_path / "out/layers", base)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["layers"], "any name will do"
    files = read(tmp_path / "out/layers")
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    first, second = json.loads(files["index.json"])["manifests"]
    assert first["digest"] == digest
    # By its tag Apptainer finds the image; the SBOM beside it has no name.
    assert first["annotations"]["org.opencontainers.image.ref.name"] == "1.0.5"
    assert "annotations" not in second
    manifest = json.loads(blob(files, first))
    config = json.loads(blob(files, manifest["config"]))
    plain = [gzip.decompress(blob(files, layer)) for layer in manifest["layers"]]
    assert config["rootfs"]["diff_ids"] == [
        f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in plain
    ]
    assert plain[0] == base.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(plain[1])) as layer:
        assert layer.getnames() == ["opt", "opt/theano", "opt/theano/python"]
    expected = config_of(workspace, VARIANT, base_name="base.tar")
    assert config["config"]["User"] == expected.user
    assert config["config"]["Labels"] == expected.labels
    assert f"PATH={expected.environment['PATH']}" in config["config"]["Env"]
    attached = json.loads(blob(files, second))
    assert attached["subject"]["digest"] == digest
    assert attached["artifactType"] == "application/vnd.cyclonedx+json"
    assert [blob(files, layer) for layer in attached["layers"]] == [SBOM]
    # For `docker load`.
    [image] = json.loads(files["manifest.json"])
    assert image["RepoTags"] == ["theano-openblas:1.0.5", "theano-openblas:latest"]
    assert len(image["Layers"]) == 3 and {*image["Layers"], image["Config"]} <= set(files)
    # Apptainer makes no parent folders for others than root.
    (tmp_path / "there").mkdir()
    with tarfile.open(tmp_path / "out/layers") as archive:
        for entry in archive:
            path = tmp_path / "there" / entry.name
            if entry.isdir():
                path.mkdir()
                assert entry.mode == 0o755
            else:
                path.write_bytes(b"")


def test_the_same_content_gives_the_same_archive(
    workspace: Workspace, build: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = oci.write(workspace, VARIANT, tmp_path / "one.tar", base)
    again = lay_out(tmp_path / "laid-out-again")
    monkeypatch.setattr(layout, "lay_out", lambda *_: again)
    assert oci.write(workspace, VARIANT, tmp_path / "two.tar", base) == digest
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_long_layers_are_compressed_in_parts(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "CHUNK", 1000)
    (tmp_path / "out").mkdir()
    [layer] = packing.compress(base, {}, tmp_path / "out")
    data = (tmp_path / "out/base").read_bytes()
    assert gzip.decompress(data) == base.read_bytes()
    assert (layer.size, layer.digest) == (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")


def test_content_that_has_changed_since_is_not_packed(
    workspace: Workspace, base: Path, tmp_path: Path
) -> None:
    """The command of the fix can be pasted."""
    made = lay_out(tmp_path / "my room")
    (tmp_path / "my room/packages/opt/theano/python").write_text("changed")
    with pytest.raises(IntegrityError, match="packages changed after it was made") as caught:
        oci.pack(workspace, VARIANT, made, tmp_path / "image.tar", oci.of_root(base))
    assert f"rm -r '{tmp_path}/my room', then" in str(caught.value)
    assert not (tmp_path / "image.tar").exists()


def test_a_target_or_a_base_that_cannot_be(
    workspace: Workspace, build: Path, base: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no archive")
    tarfile.open(tmp_path / "base.tar.gz", "w:gz").close()
    for target, below, message in (
        ("missing/image.tar", base, r"(?s)missing is no folder.*mkdir -p"),
        ("folder", base, r"(?s)folder is a folder.*folder/image.tar"),
        ("image.tar", tmp_path / "text", "text is no tar archive of a root"),
        ("image.tar", tmp_path / "base.tar.gz", "base.tar.gz is no tar archive of a root"),
        ("image.tar", tmp_path / "missing", "missing is no tar archive of a root"),
    ):
        with pytest.raises(UsageError, match=message):
            oci.write(workspace, VARIANT, tmp_path / target, below)


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_archive_that_is_not_finished_leaves_the_old_one(
    workspace: Workspace,
    build: Path,
    base: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/image.tar").write_text("old")

    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(oci, "compress", lambda *_: ())
    monkeypatch.setattr(tarfile.TarFile, "addfile", fail)
    with pytest.raises(KeyboardInterrupt if isinstance(fault, KeyboardInterrupt) else DiskError):
        oci.write(workspace, VARIANT, tmp_path / "out/image.tar", base)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["image.tar"]
    assert (tmp_path / "out/image.tar").read_text() == "old"


def saved(path: Path, settings: dict[str, Any], *layers: bytes) -> Path:
    """Write what `docker save` writes for an image."""
    names = [f"{number}/layer.tar" for number in range(len(layers))]
    description = [{"Config": "config.json", "Layers": names}]
    files = {
        "manifest.json": json.dumps(description).encode(),
        "config.json": json.dumps(settings).encode(),
        **dict(zip(names, layers, strict=True)),
    }
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def test_an_image_on_another_keeps_its_layers_and_settings(
    workspace: Workspace, build: Path, tmp_path: Path
) -> None:
    plain, packed = b"a layer", gzip.compress(b"another")
    settings = {
        "os": "linux",
        "architecture": "amd64",
        "config": {"Env": ["LANG=C", "GPU=1"], "Cmd": ["sh"], "Labels": {"of": "base"}},
        "rootfs": {"diff_ids": ["sha256:1", "sha256:2"]},
        "history": [{"comment": "its own"}],
    }
    archive = saved(tmp_path / "saved.tar", settings, plain, packed)
    below = docker.of_saved("other:1", archive, tmp_path / "layers")
    made = layout.lay_out(workspace, VARIANT)
    digests = oci.pack(workspace, VARIANT, made, tmp_path / "image.tar", below, ["x:1"])
    # So that an image does not need its space twice.
    assert not any(layer.exists() for layer in below.layers)
    files = read(tmp_path / "image.tar")
    [image] = json.loads(files["manifest.json"])
    assert image["RepoTags"] == ["x:1"]
    manifest = json.loads(files[f"blobs/{digests.manifest.replace(':', '/')}"])
    assert [layer["mediaType"].rpartition(".")[2] for layer in manifest["layers"]] == [
        "tar", "tar+gzip", "tar+gzip", "tar+gzip"
    ]  # fmt: skip
    assert [blob(files, layer) for layer in manifest["layers"][:2]] == [plain, packed]
    config = json.loads(blob(files, manifest["config"]))
    assert manifest["config"]["digest"] == digests.config
    assert config["rootfs"]["diff_ids"] == ["sha256:1", "sha256:2", *made.digests.values()]
    assert [one.get("comment") for one in config["history"]] == ["its own", "packages", "settings"]
    found = config["config"]
    assert {"LANG=C.UTF-8", "GPU=1"} <= {*found["Env"]} and "Cmd" not in found
    assert found["Labels"]["of"] == "base"
    assert found["Labels"]["org.opencontainers.image.base.name"] == "other:1"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"os": "linux", "architecture": "arm64"}, "the base image is for another machine"),
        ({"os": "windows", "architecture": "amd64"}, "the base image is for another machine"),
        ([], "archive of the base image cannot be read"),
    ],
)
def test_a_base_that_does_not_fit_is_refused(settings: Any, message: str, tmp_path: Path) -> None:
    archive = tmp_path / "saved.tar"
    if settings:
        saved(archive, settings)
    else:
        archive.write_bytes(b"no archive")
    with pytest.raises(IntegrityError, match=message):
        docker.of_saved("other:1", archive, tmp_path / "layers")
