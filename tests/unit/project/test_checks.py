"""The commands of `./invoke test`, and what the tests may know of the machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from stacks.project.checks import PARALLEL, SLOWEST, clean_environment, commands, fault_options

PYTEST = [sys.executable, "-m", "pytest"]
UNIT = [*PYTEST, "-n", "4", "tests/unit"]


def integration(*options: str) -> list[str]:
    return [*PYTEST, *PARALLEL, *SLOWEST, *options, "tests/integration"]


def faults(trials: int, seed: int, *more: str) -> list[str]:
    numbers = ["--fault-trials", str(trials), "--fault-seed", str(seed)]
    return [*PYTEST, "-n", "2", *numbers, *more, "tests/faults"]


def test_all_checks_run_in_order_without_a_choice() -> None:
    every = list(commands((), None, ()))
    tools = [words[2] if words[1] == "-m" else Path(words[0]).name for words in every[:-3]]
    assert tools == ["ruff", "ruff", "codespell_lib", "mypy", "lint-imports"]
    assert every[-3:] == [UNIT, integration("-m", "not slow"), faults(40, 1)]
    assert list(commands((), None, (), slow=True))[-3:] == [UNIT, integration(), faults(40, 1)]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (("unit", None, ()), [UNIT]),
        (("images browser", None, ()), [integration("-m", "images or browser")]),
        (("integration", None, ()), [integration("-m", "not (images or browser or examples)")]),
        (("browser integration", None, ()), [integration("-m", "not (images or examples)")]),
        (("", "lock", ()), [[*PYTEST, "-k", "lock", "tests/unit", "tests/integration"]]),
        (("unit", "lock", ()), [[*PYTEST, "-k", "lock", "tests/unit"]]),
        (("unit", None, fault_options(1000, 3)), [UNIT, faults(1000, 3)]),
        (("", None, fault_options(1, 3, 17)), [faults(1, 3, "--fault-trial", "17")]),
    ],
)
def test_a_choice_of_tests(choice: tuple[str, Any, Any], expected: list[list[str]]) -> None:
    parts, keyword, trials = choice
    assert list(commands(parts.split(), keyword, trials)) == expected


def test_tests_see_only_the_variables_that_the_readme_names() -> None:
    seen = {"PATH": "/bin", "PIP_INDEX_URL": "file:///index", "THEANO_STACKS_CACHE": "/cache"}
    hidden = {"OPENBLAS_CORETYPE": "Haswell", "THEANO_FLAGS": "device=cuda"}
    assert clean_environment(seen | hidden) == seen
