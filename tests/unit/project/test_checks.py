from __future__ import annotations

import sys
from pathlib import Path

from stacks.project.checks import PARALLEL, UNIT_PARALLEL, clean_environment, commands

PYTEST = [sys.executable, "-m", "pytest"]
UNIT = [*PYTEST, *UNIT_PARALLEL, "tests/unit"]


def integration(*options: str) -> list[str]:
    return [*PYTEST, *PARALLEL, *options, "tests/integration"]


def test_all_checks_run_in_order_without_a_choice() -> None:
    names = [" ".join(Path(word).name for word in words[:3]) for words in commands((), None)]
    assert [name.split(maxsplit=1)[1] for name in names] == [
        "-m ruff",
        "-m ruff",
        "-m mypy",
        "--no-cache",
        "-m pytest",
        "-m pytest",
    ]
    assert list(commands((), None))[-2:] == [UNIT, integration()]


def test_parts_select_tests_by_folder_and_marker() -> None:
    assert list(commands(["unit"], None)) == [UNIT]
    assert list(commands(["images", "faults"], None)) == [integration("-m", "images or faults")]
    assert list(commands(["integration"], None)) == [
        integration("-m", "not (images or browser or faults)")
    ]
    assert list(commands(["browser", "integration"], None)) == [
        integration("-m", "not (images or faults)")
    ]


def test_a_keyword_selects_tests_by_name() -> None:
    both = ["tests/unit", "tests/integration"]
    assert list(commands((), "lock")) == [[*PYTEST, "-k", "lock", *both]]
    assert list(commands(["unit"], "lock")) == [[*PYTEST, "-k", "lock", "tests/unit"]]


def test_tests_see_only_the_variables_that_the_readme_names() -> None:
    observed = {
        "PATH": "/bin",
        "PIP_INDEX_URL": "file:///index",
        "THEANO_STACKS_CACHE": "/cache",
        "OPENBLAS_CORETYPE": "Haswell",
        "PYTHONUNBUFFERED": "1",
        "THEANO_FLAGS": "device=cuda",
    }
    assert clean_environment(observed) == {
        "PATH": "/bin",
        "PIP_INDEX_URL": "file:///index",
        "THEANO_STACKS_CACHE": "/cache",
    }
