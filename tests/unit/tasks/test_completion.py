"""Completion of a command line: the words, and each shell that is installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext

from stacks.core.disk import REPOSITORY
from stacks.tasks.completion import SCRIPTS, candidates

TASKS = {
    "build": ParserContext(
        "build",
        args=[
            Argument(names=("variant", "v")),
            Argument(names=("variants",)),
            Argument(names=("full", "f"), kind=bool),
            Argument(names=("sdist",), kind=bool, default=True),
        ],
    ),
    "bench": ParserContext("bench"),
}


def names() -> list[str]:
    return ["mkl", "openblas", "theano-0.8.2/mkl"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "bench build"),
        ("bu", "build"),
        ("-v|b", "bench build"),
        ("build|", ""),
        ("build|--", "--full --help --no-sdist --sdist --variant --variants"),
        ("bench|--", "--help"),
        ("build|--variant|", "mkl openblas theano-0.8.2/mkl"),
        ("build|--full|--variant|theano-0.8.2/", "theano-0.8.2/mkl"),
        ("build|--variants|mkl,o", "mkl,openblas"),
        ("build|--variant=m", "--variant=mkl"),
        # As bash splits it.
        ("build|--variant|=|m", "mkl"),
        ("build|--variant|=", "mkl openblas theano-0.8.2/mkl"),
        ("build|--variant|mkl|--|b", ""),
    ],
)
def test_candidates(words: str, expected: str) -> None:
    values = {"--variant": names, "--variants": names}
    assert candidates(words.split("|"), TASKS, values) == expected.split()


# What each shell does when a person presses the tabulator.
DRIVERS = {
    "bash": """
        COMP_WORDS=(./invoke build --variant op) COMP_CWORD=3
        _theano_stacks
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compadd() { print -l -- ${(P)2} }
        words=(./invoke build --variant op) CURRENT=4
        _theano_stacks
    """,
    "fish": "complete -C './invoke build --variant op'",
}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_in_a_shell(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    code = SCRIPTS[shell] + DRIVERS[shell]
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *options, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["openblas", "openblas-amdlibm"], done.stderr
