"""An image's layers, with the same bytes everywhere; its names, labels and bill of materials."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stacks.channel.offers import Channel
from stacks.core.disk import REPOSITORY, fixed_umask
from stacks.core.workspace import Workspace
from stacks.image import base, engine, layout, metadata
from stacks.image.metadata import ENTRY, config_of
from stacks.locks.lock import Lock
from stacks.sources.pins import IndexPin, Pins
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.serving import deb

LOCK = Lock(packages=(), requirements=())
WHEEL = IndexPin(
    name="Some_Thing", version="2", filename="some_thing-2.whl", size=1, sha256="a" * 64
)


@pytest.fixture
def copy(tmp_path: Path) -> Workspace:
    """Give a workspace with a copy of the verification suite."""
    root = tmp_path / "copy"
    for name in ("docker", "envs", "recipes"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(REPOSITORY / name)
    shutil.copytree(REPOSITORY / "verify", root / "verify")
    return Workspace(root, tmp_path / "cache")


def test_key_and_image_have_the_same_files_of_the_suite(
    copy: Workspace, variant: Variant, tmp_path: Path
) -> None:
    before = layout.key_of(copy, variant, LOCK)
    other = variant.model_copy(update={"summary": "another"})
    assert layout.key_of(copy, other, LOCK) != before, "it is in the image's help"
    for name in ("ruff.toml", "workloads/__pycache__/lstm.pyc", ".cache/x.py"):
        (copy.suite / name).parent.mkdir(exist_ok=True)
        (copy.suite / name).write_text("changed")
        assert layout.key_of(copy, variant, LOCK) == before, name
    # Modes of the checkout do not count.
    (copy.suite / "cli.py").chmod(0o444)
    (copy.suite / "suite.py").chmod(0o755)
    with fixed_umask():
        layout._add_programs(tmp_path / "root", variant, config_of(copy, variant), copy.suite)
    copied = tmp_path / "root" / layout.SHARE[1:] / "verify"
    names = [path.relative_to(copied) for path in copied.rglob("*") if path.is_file()]
    assert sorted(names) == layout._files(copy.suite)
    assert {path.stat().st_mode & 0o777 for path in copied.rglob("*.py")} == {0o644}
    (copy.suite / "cli.py").chmod(0o644)
    for name in ("cli.py", "workloads/networks.py", "blas/peak.c"):
        assert Path(name) in names
        before = layout.key_of(copy, variant, LOCK)
        with (copy.suite / name).open("a") as file:
            file.write("\n")
        assert layout.key_of(copy, variant, LOCK) != before, name


SUMMARY = """Alice's "model" for $5 `id` $(id) \\n %s {module} END ü"""


@pytest.mark.parametrize("command", [["sh", ENTRY, "help"], ["bash", f"{layout.SHARE}/bashrc"]])
def test_an_image_shows_its_summary_as_it_is_written(
    workspace: Workspace, variant: Variant, tmp_path: Path, command: list[str]
) -> None:
    variant = variant.model_copy(update={"summary": SUMMARY})
    config = config_of(workspace, variant)
    layout._add_programs(tmp_path, variant, config, workspace.suite)
    program, path, *arguments = command
    done = subprocess.run(
        [program, f"{tmp_path}{path}", *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    heading, *lines = done.stdout.splitlines()
    assert heading == f"theano-openblas: {SUMMARY}, on {variant.framework.summary}"
    assert "{" not in "".join(lines)


@pytest.mark.parametrize(
    ("variant", "framework", "names"),
    [
        ("mkl", "theano-1.0.5", ("theano-mkl:1.0.5", "theano-mkl:latest")),
        ("mkl", "theano-0.8.2", ("theano-mkl:0.8.2",)),
        ("openblas", "pytensor-3.3.7", ("pytensor-openblas:3.3.7",)),
        ("openblas", "theano-pymc-1.1.2", ("theano-pymc-openblas:1.1.2",)),
    ],
)
def test_an_image_is_named_after_framework_and_flavour(
    workspace: Workspace, variant: str, framework: str, names: tuple[str, ...]
) -> None:
    config = config_of(workspace, load_variant(workspace, variant, framework))
    assert config.names == names
    found = {name.rpartition(".")[2]: text for name, text in config.labels.items()}
    assert f"{found['title']}:{found['version']}" == names[0]
    assert found["name"] == base.name(workspace)
    assert re.fullmatch(r"theano-stacks-base:[0-9a-f]{12}", found["name"])


def test_the_image_of_a_stack_lies_beside_it_and_has_a_name_that_no_flavour_has(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "openblas").mkdir()
    file = tmp_path / "openblas/stack.yaml"
    file.write_text("summary: mine\nextends: openblas\nframework: theano-0.8.2\n")
    variant = load_variant(workspace, str(file))
    names = config_of(workspace, variant).names
    assert names == ("stack-openblas:0.8.2", "stack-openblas:latest")
    folder = tmp_path / "openblas/stack.build"
    assert layout.layout_folder(workspace, variant) == folder / "image"
    assert layout.path_beside(workspace, variant, "docker.txt") == folder / "image.docker.txt"
    assert engine.report_path(workspace, variant) == folder / "image.report.json"


def test_each_component_has_a_package_url_a_hash_and_a_licence(
    workspace: Workspace, tmp_path: Path
) -> None:
    described = tmp_path / "some_thing-2.dist-info/METADATA"
    described.parent.mkdir()
    described.write_text(
        "Metadata-Version: 2.1\nName: some-thing\nVersion: 2\n"
        "Classifier: License :: OSI Approved :: MIT License\n"
    )
    config = config_of(workspace, load_variant(workspace, "pip-default", "theano-1.0.5"))
    locked = Lock((), (WHEEL,))
    texts = {
        metadata.render(
            config, "key", (), locked, Channel({}, Pins()), {deb(): ("GPL-2+", "MIT")}, tmp_path
        )
        for _ in range(2)
    }
    [text] = texts
    content = json.loads(text)
    found = {component["purl"]: component for component in content["components"]}
    debian = "pkg:deb/debian/foo@1.0?arch=amd64&distro=debian-11"
    wheel = "pkg:pypi/some-thing@2?file_name=some_thing-2.whl"
    assert sorted(found) == [debian, wheel]
    assert [one["license"]["name"] for one in found[debian]["licenses"]] == ["GPL-2+", "MIT"]
    assert found[wheel]["licenses"] == [{"license": {"name": "MIT License"}}]
    assert found[wheel]["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]
    assert content["metadata"]["component"]["name"] == config.repository
