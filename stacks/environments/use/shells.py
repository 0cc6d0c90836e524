"""Interactive shells that stand in an environment after they have read the person's own files.

These may activate conda or change PATH, and they set the prompt.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from verify.core import surroundings

ZSH = Path(__file__).parent / "zsh"


def start_of(name: str, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the command and variables of the person's shell, whose prompt begins with `(name)`.

    env: the variables of a program in the environment; SHELL is the shell.
    """
    program, prompt = env.get("SHELL", "/bin/sh"), f"({name}) "
    variables = dict(env)
    match Path(program).name:
        case "bash":
            text = f"[ -f ~/.bashrc ] && . ~/.bashrc; {_start(prompt, env)}"
            command = [program, "--rcfile", _file_of(text), "-i"]
        case "zsh":
            variables["THEANO_STACKS_ZDOTDIR"] = env.get("ZDOTDIR", "")
            variables["THEANO_STACKS_START"] = _start(prompt, env)
            variables["ZDOTDIR"] = str(ZSH)
            command = [program, "-i"]
        case "fish":
            command = [program, "-i", "-C", _start_of_fish(prompt, env)]
        case _:
            variables["PS1"] = f"{prompt}$ "
            command = [program, "-i"]
    return command, variables


def _start(prompt: str, env: Mapping[str, str]) -> str:
    """Return the commands of a POSIX shell that enter the environment."""
    return (
        f"unset {' '.join(surroundings.dropped())}; export PATH={_quoted(env['PATH'])}; "
        f'export CONDA_PREFIX={_quoted(env["CONDA_PREFIX"])}; PS1="{prompt}$PS1"'
    )


def _start_of_fish(prompt: str, env: Mapping[str, str]) -> str:
    folders = " ".join(map(_quoted_for_fish, env["PATH"].split(os.pathsep)))
    return (
        f"set -e {' '.join(surroundings.dropped())}; set -gx PATH {folders}; "
        f"set -gx CONDA_PREFIX {_quoted_for_fish(env['CONDA_PREFIX'])}; "
        "functions -c fish_prompt theano_stacks_prompt; "
        f"function fish_prompt; echo -n {_quoted_for_fish(prompt)}; theano_stacks_prompt; end"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _quoted_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _file_of(text: str) -> str:
    """Return the path of a file with this text that only the next program reads."""
    reading, writing = os.pipe()
    os.write(writing, os.fsencode(text))
    os.close(writing)
    os.set_inheritable(reading, True)
    return f"/dev/fd/{reading}"
