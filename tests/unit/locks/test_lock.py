"""The texts of a lock, as the programs read them that they are for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock, lock
from stacks.locks.folders import lock_folder
from stacks.sources.pins import Pins, read_pins
from stacks.variants.load import load_variant

NASTY = 'it\'s "quoted" $HOME `id` : # - \\ {x} [y] %s é'


@pytest.fixture
def pins(workspace: Workspace) -> Pins:
    return read_pins(workspace.sources_lock)


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
    path = lock_folder(own, variant) / conda_lock.NAME
    path.parent.mkdir(parents=True)
    path.write_text("[" * 20_000)
    with pytest.raises(UsageError, match=r"not a valid lock\n.*32 levels") as caught:
        lock.read(own, variant, pins)
    assert caught.value.fix and "./invoke lock" in caught.value.fix
