"""The hook in a user's program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from stacks.environments.programs import SUITE

# A framework in which the compilation of one function compiles another.
FRAMEWORK = """\
import time
class FunctionMaker(object):
    def __init__(self, inner=None):
        time.sleep(0.01)
        if inner:
            inner().create()
    def create(self):
        return 'created'
"""
PROGRAM = """\
import os, theano.compile.function_module as module
import theano.after
maker = module.FunctionMaker(module.FunctionMaker)
assert maker.create() == 'created'
"""


def test_the_time_of_compilations_is_written_at_the_end(tmp_path: Path) -> None:
    package = tmp_path / "modules/theano/compile"
    package.mkdir(parents=True)
    for path in (
        package.parent / "__init__.py",
        package.parent / "after.py",
        package / "__init__.py",
    ):
        path.write_text("")
    (package / "function_module.py").write_text(FRAMEWORK)
    folder = tmp_path / "times"
    folder.mkdir()
    paths = f"{SUITE / 'program_hook'}:{tmp_path / 'modules'}"
    # The kernel's own figure of a program counts the memory of the one that starts it.
    memory = b"x" * 300_000_000
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": paths, "THEANO_STACKS_TIMES": str(folder)},
        check=True,
    )
    [written] = folder.glob("*.json")
    found = json.loads(written.read_text())
    assert 0.02 <= found["compile"] < 60
    assert 1_000_000 < found["peak"] < len(memory)
