from __future__ import annotations

import re
from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.image import base
from stacks.image.config import config_of
from stacks.variants.load import load_variant


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
    assert config_of(workspace, load_variant(workspace, variant, framework)).names == names


def test_the_config_starts_the_program_as_a_user_who_is_not_root(workspace: Workspace) -> None:
    config = config_of(workspace, load_variant(workspace, "openblas"))
    assert config.user == "10001:0"
    assert config.entrypoint == ("/usr/local/bin/theano-stacks",)
    assert config.environment["PATH"].startswith("/opt/theano/bin:")
    assert config.environment["HOME"] and config.environment["USER"]


def test_labels_are_those_of_the_oci_and_name_the_base(workspace: Workspace) -> None:
    labels = config_of(workspace, load_variant(workspace, "openblas")).labels
    assert labels["org.opencontainers.image.title"] == "theano-openblas"
    assert labels["org.opencontainers.image.version"] == "1.0.5"
    assert labels["org.opencontainers.image.base.name"] == base.name(workspace)
    assert re.fullmatch(r"theano-stacks-base:[0-9a-f]{12}", base.name(workspace))
    other = config_of(workspace, load_variant(workspace, "openblas"), base_name="debian:bookworm")
    assert other.labels["org.opencontainers.image.base.name"] == "debian:bookworm"


def test_the_image_of_a_stack_has_a_name_that_no_flavour_has(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "openblas"
    folder.mkdir()
    (folder / "stack.yaml").write_text(
        "summary: mine\nextends: openblas\nframework: theano-0.8.2\n"
    )
    config = config_of(workspace, load_variant(workspace, str(folder)))
    assert config.names == ("stack-openblas:0.8.2", "stack-openblas:latest")
