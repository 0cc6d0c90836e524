"""Which tests the everyday run leaves out."""

from __future__ import annotations

import pytest
from integration import slow


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("test_examples::test_what_a_folder_has[keras-2.3]", True),
        ("test_pip::test_all_programs_list_the_same_packages[aesara-2.8.7-openblas]", True),
        ("test_pip::test_all_programs_list_the_same_packages[theano-1.0.5-openblas]", False),
        ("test_c_code::test_c_code_gives_what_python_gives[theano-1.0.5]", True),
        ("test_c_code::test_c_code_gives_what_python_gives[theano-0.8.2]", False),
    ],
)
def test_by_module_case_or_name(test: str, expected: bool) -> None:
    assert slow.is_slow(test) is expected


def test_what_matches_nothing_is_named() -> None:
    every = [f"{module}::test" for module in slow.MODULES]
    assert slow.unused(every) == list(slow.TESTS)
    assert slow.unused(every[1:])[0] == slow.MODULES[0]
