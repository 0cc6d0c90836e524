"""Interactive shells stand in the environment whatever the person's own files do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from stacks.environments.use import shells

CONDA = (
    "export PATH=/conda/bin:$PATH CONDA_PREFIX=/conda VIRTUAL_ENV=/other\nMINE=read\nPS1='mine> '\n"
)
FISH = """\
set -gx PATH /conda/bin $PATH; set -gx CONDA_PREFIX /conda; set -gx VIRTUAL_ENV /other
set MINE read
function fish_prompt; echo -n 'mine> '; end
"""
FILES = {
    "bash": (".bashrc", CONDA),
    "zsh": (".zshrc", CONDA),
    "fish": (".config/fish/config.fish", FISH),
}
SHOWN = 'echo "$MINE:$PATH:$CONDA_PREFIX:$VIRTUAL_ENV"'


@pytest.mark.parametrize("shell", FILES)
def test_a_shell_enters_the_environment_after_the_persons_files(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"{shell} is not installed")
    name, text = FILES[shell]
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text)
    prefix = tmp_path / "it's a préfix"
    env = {
        "HOME": str(tmp_path),
        "SHELL": program,
        "TERM": "dumb",
        "PATH": f"{prefix}/bin:/usr/bin:/bin",
        "CONDA_PREFIX": str(prefix),
    }
    command, variables = shells.start_of("openblas", env)
    prompt = "fish_prompt" if shell == "fish" else 'echo "$PS1"'
    done = subprocess.run(
        command,
        input=f"{SHOWN}\n{prompt}\nexit\n",
        env=variables,
        capture_output=True,
        text=True,
        pass_fds=[int(Path(command[2]).name)] if shell == "bash" else [],
        check=False,
    )
    assert f"read:{prefix}/bin:/usr/bin:/bin:{prefix}:\n" in done.stdout.replace(
        f"{prefix}/bin /usr/bin /bin", f"{prefix}/bin:/usr/bin:/bin"
    )
    assert "(openblas) mine> " in done.stdout
    assert "THEANO_STACKS" not in done.stdout + done.stderr
    assert not list(shells.ZSH.glob(".zcompdump*"))


def test_bytes_of_a_path_that_are_not_utf_8_are_kept(tmp_path: Path) -> None:
    path = os.fsdecode(b"/caf\xe9/bin")
    command, _ = shells.start_of("v", {"SHELL": "bash", "PATH": path, "CONDA_PREFIX": "/p"})
    assert b"PATH='/caf\xe9/bin'" in Path(command[2]).read_bytes()
