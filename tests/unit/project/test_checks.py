from __future__ import annotations

import sys
from pathlib import Path

import pytest
from integration import slow

from stacks.project.checks import (
    PARALLEL,
    SLOWEST,
    UNIT_PARALLEL,
    Trials,
    clean_environment,
    commands,
)

PYTEST = [sys.executable, "-m", "pytest"]
FAULTS = [*PYTEST, "-n", "2"]
UNIT = [*PYTEST, *UNIT_PARALLEL, "tests/unit"]


def integration(*options: str) -> list[str]:
    return [*PYTEST, *PARALLEL, *SLOWEST, *options, "tests/integration"]


def test_all_checks_run_in_order_without_a_choice() -> None:
    names = [" ".join(Path(word).name for word in words[:3]) for words in commands((), None, None)]
    assert [name.split(maxsplit=1)[1] for name in names] == [
        "-m ruff",
        "-m ruff",
        "-m codespell_lib",
        "-m mypy",
        "--no-cache",
        "-m pytest",
        "-m pytest",
        "-m pytest",
    ]
    trials = [*FAULTS, "--fault-trials", "40", "--fault-seed", "1", "tests/faults"]
    usual = integration("-m", "not slow")
    assert list(commands((), None, None))[-3:] == [UNIT, usual, trials]
    assert list(commands((), None, None, slow=True))[-3:] == [UNIT, integration(), trials]


def test_parts_select_tests_by_folder_and_marker() -> None:
    assert list(commands(["unit"], None, None)) == [UNIT]
    both = integration("-m", "images or browser")
    assert list(commands(["images", "browser"], None, None)) == [both]
    assert list(commands(["integration"], None, None)) == [
        integration("-m", "not (images or browser or examples)")
    ]
    assert list(commands(["browser", "integration"], None, None)) == [
        integration("-m", "not (images or examples)")
    ]


def test_faults_select_random_trials_or_one_to_repeat() -> None:
    many = [*FAULTS, "--fault-trials", "1000", "--fault-seed", "3", "tests/faults"]
    assert list(commands((), None, Trials(1000, 3))) == [many]
    assert list(commands(["unit"], None, Trials(1000, 3))) == [UNIT, many]
    one = ["--fault-trials", "1", "--fault-seed", "3", "--fault-trial", "17"]
    assert list(commands((), None, Trials(1, 3, 17))) == [[*FAULTS, *one, "tests/faults"]]


def test_a_keyword_selects_tests_by_name() -> None:
    both = ["tests/unit", "tests/integration"]
    assert list(commands((), "lock", None)) == [[*PYTEST, "-k", "lock", *both]]
    assert list(commands(["unit"], "lock", None)) == [[*PYTEST, "-k", "lock", "tests/unit"]]


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


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("test_examples::test_what_a_folder_has[keras-2.3]", True),
        ("test_pip::test_all_programs_list_the_same_packages[aesara-2.8.7-openblas]", True),
        ("test_pip::test_all_programs_list_the_same_packages[theano-1.0.5-openblas]", False),
        ("test_recipes::test_c_code_gives_what_python_gives[theano-1.0.5]", True),
        ("test_recipes::test_c_code_gives_what_python_gives[theano-0.8.2]", False),
    ],
)
def test_by_module_case_or_name(test: str, expected: bool) -> None:
    assert slow.is_slow(test) is expected


def test_what_matches_nothing_is_named() -> None:
    every = [f"{module}::test" for module in slow.MODULES]
    assert slow.unused(every) == list(slow.TESTS)
    assert slow.unused(every[1:])[0] == slow.MODULES[0]
