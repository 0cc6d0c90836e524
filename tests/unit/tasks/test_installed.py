"""The installed command becomes the program of ./invoke, isolated from the user's folder."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from stacks.core import locking
from stacks.core.disk import REPOSITORY
from stacks.tasks import installed


def test_it_becomes_the_program_of_invoke(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(os, "execv", lambda *words: started.append(words))
    monkeypatch.setattr(sys, "argv", ["theano-stacks", "run", "--", "a b"])
    installed.main()
    words = ["-I", "-c", installed.PROGRAM, str(REPOSITORY), "run", "--", "a b"]
    assert started == [(sys.executable, [sys.executable, *words])]


def test_the_program_is_that_of_the_script() -> None:
    script = (REPOSITORY / "invoke").read_text()
    assert f'-c \'{installed.PROGRAM}\' "$here" "$@"\n' in script
    assert locking.OWN_PROGRAM in installed.PROGRAM
