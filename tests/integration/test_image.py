"""The content of an image, tested without an engine, in a folder with all layers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from stacks.core.workspace import Workspace, default_workspace
from stacks.image import base as bases
from stacks.image import builder, layout, oci
from stacks.image.layout import SHARE, Layers
from stacks.locks import lock
from stacks.variants.load import load_variant

VARIANT = load_variant(default_workspace(), "openblas")
# The second of the two ways in which `reproduce` makes an image.
DIFFERENTLY = [*builder.BOTH][1]


@pytest.fixture(scope="module")
def layers(workspace: Workspace) -> Layers:
    return layout.lay_out(workspace, VARIANT)


@pytest.fixture
def root(layers: Layers, tmp_path: Path) -> Path:
    """Give the root that a container would have, without its base."""
    root = tmp_path / "root"
    for folder in layers.folders.values():
        subprocess.run(["cp", "-al", f"{folder}/.", root], check=True)
    return root


def test_variants_of_a_framework_share_all_layers_but_the_blas(layers: Layers) -> None:
    assert [*layers.folders] == ["packages", "blas", "settings"]
    packages, blas, settings = (folder / "opt/theano" for folder in layers.folders.values())
    assert (packages / "bin/python").exists() and (packages / "bin/g++").is_file()
    assert not list((packages / "lib").glob("lib*blas*"))
    assert (blas / "lib/libopenblas.so.0").is_symlink()
    assert (settings / "etc/theanorc").is_file()


def test_the_manifest_has_every_file_of_the_environment(root: Path) -> None:
    prefix = root / "opt/theano"
    suite = root / SHARE[1:] / "verify"
    # Python compiles __main__.py before the suite can tell it not to.
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(
        [sys.executable, suite, "files", "--prefix", prefix, "--full"], env=env, check=True
    )
    listed = set(json.loads((prefix / "etc/theano-stacks/files.json").read_text().splitlines()[1]))
    present = {
        str(path.relative_to(prefix))
        for path in prefix.rglob("*")
        if path.is_symlink() or path.is_file()
    }
    # What programs write, and the manifest itself.
    rest = {name for name in present if not name.startswith("var/")} - listed
    assert rest <= {"etc/theano-stacks/files.json", "conda-meta/history"}
    own = {"sbom.cdx.json", "sbom-without-base.cdx.json", "bashrc", "verify/suite.py"}
    assert {f"share/theano-stacks/{name}" for name in own} <= listed


def test_python_files_are_compiled_for_their_path_in_the_image(root: Path) -> None:
    found = root / "opt/theano/lib/python3.9/site-packages/theano/__pycache__"
    data = (found / "printing.cpython-39.pyc").read_bytes()
    # PEP 552: a hash that is not compared with the source's, so that no clock matters.
    assert data[4:8] == b"\1\0\0\0"
    assert b"/opt/theano/lib/python3.9/site-packages/theano/printing.py" in data


def test_the_sbom_names_every_package_and_is_valid(workspace: Workspace, layers: Layers) -> None:
    text = (layers.folder / "settings" / layout.SBOM[1:]).read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found = {item["purl"].partition("?")[0]: item for item in json.loads(text)["components"]}
    locked = lock.read(workspace, VARIANT)
    for package in locked.packages:
        item = found[f"pkg:conda/{package.name}@{package.version}"]
        assert item["hashes"] == [{"alg": "SHA-256", "content": package.sha256}]
        assert item["licenses"]
    assert {item["name"] for item in found.values()} >= set(bases.read_file(workspace).debs)
    other_base = layers.folder / "settings" / layout.SBOM_WITHOUT_BASE[1:]
    alone = json.loads(other_base.read_bytes())["components"]
    assert {item["purl"].partition(":")[2].partition("/")[0] for item in alone} == {"conda"}
    made_of = [each["purl"] for each in found["pkg:conda/numpy@1.21.6"]["components"]]
    assert [purl for purl in made_of if purl.startswith("pkg:pypi/numpy@1.21.6")]


def test_two_images_made_differently_are_identical(
    workspace: Workspace, layers: Layers, tmp_path: Path
) -> None:
    digest = oci.write(workspace, VARIANT, tmp_path / "image.tar")
    other = builder.make(VARIANT, tmp_path / DIFFERENTLY)
    assert builder.difference(layers.folder, tmp_path / DIFFERENTLY / "image") == ""
    assert other == digest
