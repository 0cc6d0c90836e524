"""The texts of a lock, as the programs read them that they are for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from pip._internal.network.session import PipSession
from pip._internal.req.req_file import parse_requirements

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock, lock
from stacks.sources.pins import Pins, read_pins
from stacks.variants.load import load_variant

NASTY = 'it\'s "quoted" $HOME `id` : # - \\ {x} [y] %s é'


@pytest.fixture
def pins(workspace: Workspace) -> Pins:
    return read_pins(workspace.sources_lock)


def test_nasty_values_do_not_change_what_conda_reads(workspace: Workspace, pins: Pins) -> None:
    variant = load_variant(workspace, "mkl")
    nasty = variant.model_copy(update={"summary": NASTY})
    found = yaml.safe_load(lock.input_files(nasty, pins)["environment.yml"])
    assert found == yaml.safe_load(lock.input_files(variant, pins)["environment.yml"])
    assert found["dependencies"] == list(variant.conda_specs())


# Of pip itself: it reads the names of installed packages in an old way.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pip_reads_the_pinned_files_and_nothing_else(
    workspace: Workspace, pins: Pins, tmp_path: Path
) -> None:
    variant = load_variant(workspace, "pip-openblas")
    path = tmp_path / "requirements.txt"
    path.write_text(lock.input_files(variant, pins)["requirements.txt"])
    parsed = list(parse_requirements(str(path), session=PipSession()))
    expected = lock.requirements_of(variant, pins)
    assert [each.requirement.strip() for each in parsed] == [
        f"{p.name}=={p.version}" for p in expected
    ]
    assert [each.options for each in parsed] == [
        {"hashes": {"sha256": [p.sha256]}} for p in expected
    ]


def test_the_command_in_a_message_is_quoted_for_a_shell(
    workspace: Workspace, tmp_path: Path
) -> None:
    variant = load_variant(workspace, "mkl@here")
    channel = "http://here/$(id)`id`;id&'\"#x"
    command = lock._command(variant, channel).removeprefix("./invoke")
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\n' {command}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["lock", "--variant", "mkl", "--channel", channel]


def test_a_lock_that_is_no_file_is_refused_with_the_fix(
    workspace: Workspace, pins: Pins, tmp_path: Path
) -> None:
    variant = load_variant(workspace, "mkl")
    own = Workspace(tmp_path, workspace.cache)
    path = lock.folder_of(own, variant) / conda_lock.NAME
    path.parent.mkdir(parents=True)
    path.write_text("[" * 20_000)
    with pytest.raises(UsageError, match=r"not a valid lock\n.*32 levels") as caught:
        lock.read(own, variant, pins)
    assert caught.value.fix and "./invoke lock" in caught.value.fix
