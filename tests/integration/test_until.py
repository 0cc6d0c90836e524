"""The gradients of scans that end by `until`, which the recipes correct."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from integration.conftest import MakePrefix

DRIVER = Path(__file__).with_name("until_driver.py")


@pytest.mark.parametrize("framework", ["theano-0.8.2", "theano-1.0.5", "theano-pymc-1.1.2"])
def test_the_gradients_are_those_of_finite_differences(
    framework: str, prefix: MakePrefix, tmp_path: Path
) -> None:
    place = prefix(framework, "openblas")
    # Without C: what is corrected is Python.
    env = {**os.environ, "THEANO_FLAGS": f"base_compiledir={tmp_path},cxx="}
    output = subprocess.check_output([place / "bin/python", DRIVER], env=env, text=True)
    assert json.loads(output.splitlines()[-1]) == []
