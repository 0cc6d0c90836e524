from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from stacks.environments.verify import SUITE

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
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": paths, "THEANO_STACKS_TIMES": str(folder)},
        check=True,
    )
    [written] = folder.glob("*.json")
    # Two of 10 ms, the inner one counted once: with it twice it would be 30.
    assert 0.02 <= json.loads(written.read_text())["compile"] < 60
