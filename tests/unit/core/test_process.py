from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stacks.core.process import CommandError, call, quoted, run_attached


def test_what_a_program_prints() -> None:
    assert call([sys.executable, "-c", "print('a b')"]) == "a b\n"


def test_bytes_that_are_no_text() -> None:
    assert call([sys.executable, "-c", "import os; os.write(1, b'\\xff')"]) == "\ufffd"


def test_the_error_of_a_program_has_its_output() -> None:
    code = "import sys; print('out'); print('because', file=sys.stderr); sys.exit(3)"
    with pytest.raises(CommandError) as caught:
        call([sys.executable, "-c", code])
    assert caught.value.what.endswith("out\nbecause")
    assert (caught.value.expected, caught.value.found) == ("exit status 0", "exit status 3")


def test_a_status_that_is_accepted() -> None:
    assert call([sys.executable, "-c", "import sys; sys.exit(3)"], accepted=(0, 3)) == ""


def test_a_program_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot run no-such-program: No such file"):
        call(["no-such-program", "x y"])
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        run_attached(["no-such-program"])


def test_the_status_of_an_attached_program() -> None:
    assert run_attached([sys.executable, "-c", "import sys; sys.exit(7)"]) == 7


def test_a_command_line_as_a_person_types_it() -> None:
    assert quoted(["a b", Path("/c"), "d'e"]) == "'a b' /c 'd'\"'\"'e'"
