"""The texts of a lock, as the programs read them that they are for."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pip._internal.network.session import PipSession
from pip._internal.req.req_file import parse_requirements

from stacks.core.workspace import Workspace
from stacks.locks import texts
from stacks.sources.pins import Pins, read_pins
from stacks.variants.load import load_variant

NASTY = 'it\'s "quoted" $HOME `id` : # - \\ {x} [y] %s é'


@pytest.fixture
def pins(workspace: Workspace) -> Pins:
    return read_pins(workspace.sources_lock)


def test_nasty_values_do_not_change_what_conda_reads(workspace: Workspace, pins: Pins) -> None:
    variant = load_variant(workspace, "mkl")
    nasty = variant.model_copy(update={"summary": NASTY})
    found = yaml.safe_load(texts.input_files(nasty, pins)["environment.yml"])
    assert found == yaml.safe_load(texts.input_files(variant, pins)["environment.yml"])
    assert found["dependencies"] == list(variant.conda_specs())


@pytest.mark.parametrize("name", ["2024", "on", "null", "model"])
def test_the_name_of_a_stack_is_text(workspace: Workspace, pins: Pins, name: str) -> None:
    variant = load_variant(workspace, "mkl")
    stack = variant.model_copy(update={"file": Path(f"/home/ann/{name}.yaml")})
    found = yaml.safe_load(texts.input_files(stack, pins)["environment.yml"])
    assert found["name"] == name


# Of pip itself: it reads the names of installed packages in an old way.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pip_reads_the_pinned_files_and_nothing_else(
    workspace: Workspace, pins: Pins, tmp_path: Path
) -> None:
    variant = load_variant(workspace, "pip-openblas")
    path = tmp_path / "requirements.txt"
    path.write_text(texts.input_files(variant, pins)["requirements.txt"])
    parsed = list(parse_requirements(str(path), session=PipSession()))
    expected = texts.requirements_of(variant, pins)
    assert [each.requirement.strip() for each in parsed] == [
        f"{p.name}=={p.version}" for p in expected
    ]
    assert [each.options for each in parsed] == [
        {"hashes": {"sha256": [p.sha256]}} for p in expected
    ]


def test_the_lock_of_a_stack_does_not_follow_its_folder(
    workspace: Workspace, pins: Pins, tmp_path: Path
) -> None:
    """A clone or a renamed folder has a current lock."""
    own = (pins.version("theano", "1.0.5")[0],)
    found = set()
    for name in ("one", "anøther two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stack.yaml").write_text(
            "summary: mine\nextends: openblas\nframework: theano-1.0.5\npip: [six]\n"
        )
        variant = load_variant(workspace, str(tmp_path / name))
        written = texts.input_files(variant, pins, own=own)
        assert "name: stack\n" in written["environment.yml"]
        found.add((*written.values(), texts.content_hash(variant, (), "", {}, own)))
    assert len(found) == 1
