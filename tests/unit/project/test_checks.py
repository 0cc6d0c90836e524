from __future__ import annotations

import sys
from pathlib import Path

import pytest
from integration import slow

from stacks.project.checks import (
    PARALLEL,
    SLOWEST,
    UNIT_PARALLEL,
    clean_environment,
    commands,
    fault_options,
)

PYTEST = [sys.executable, "-m", "pytest"]
FAULTS = [*PYTEST, "-n", "2"]
UNIT = [*PYTEST, *UNIT_PARALLEL, "tests/unit"]


def integration(*options: str) -> list[str]:
    return [*PYTEST, *PARALLEL, *SLOWEST, *options, "tests/integration"]


def test_all_checks_run_in_order_without_a_choice() -> None:
    every = list(commands((), None, ()))
    tools = [words[2] if words[1] == "-m" else Path(words[0]).name for words in every[:-3]]
    assert tools == ["ruff", "ruff", "codespell_lib", "mypy", "lint-imports"]
    trials = [*FAULTS, "--fault-trials", "40", "--fault-seed", "1", "tests/faults"]
    assert every[-3:] == [UNIT, integration("-m", "not slow"), trials]
    assert list(commands((), None, (), slow=True))[-3:] == [UNIT, integration(), trials]


@pytest.mark.parametrize(
    ("parts", "marker"),
    [
        ("images browser", "images or browser"),
        ("integration", "not (images or browser or examples)"),
        ("browser integration", "not (images or examples)"),
    ],
)
def test_parts_select_tests_by_folder_and_marker(parts: str, marker: str) -> None:
    assert list(commands(["unit"], None, ())) == [UNIT]
    assert list(commands(parts.split(), None, ())) == [integration("-m", marker)]


def test_faults_select_random_trials_or_one_to_repeat() -> None:
    many = [*FAULTS, "--fault-trials", "1000", "--fault-seed", "3", "tests/faults"]
    assert list(commands((), None, fault_options(1000, 3))) == [many]
    assert list(commands(["unit"], None, fault_options(1000, 3))) == [UNIT, many]
    one = ["--fault-trials", "1", "--fault-seed", "3", "--fault-trial", "17"]
    assert list(commands((), None, fault_options(1, 3, 17))) == [[*FAULTS, *one, "tests/faults"]]


def test_a_keyword_selects_tests_by_name() -> None:
    both = ["tests/unit", "tests/integration"]
    assert list(commands((), "lock", ())) == [[*PYTEST, "-k", "lock", *both]]
    assert list(commands(["unit"], "lock", ())) == [[*PYTEST, "-k", "lock", "tests/unit"]]


def test_tests_see_only_the_variables_that_the_readme_names() -> None:
    seen = {"PATH": "/bin", "PIP_INDEX_URL": "file:///index", "THEANO_STACKS_CACHE": "/cache"}
    hidden = {"OPENBLAS_CORETYPE": "Haswell", "THEANO_FLAGS": "device=cuda"}
    assert clean_environment(seen | hidden) == seen


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
