"""What is missing, or has a version that does not fit; its fix as the suite prints it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from integration.applied_fix import applied
from integration.checking import checked
from stacks.environments.suite import SUITE

Prefix = Callable[[str, str], Path]


def test_of_a_numpy_that_is_too_new(prefix: Prefix, tmp_path: Path, home: Path) -> None:
    base, newer = prefix("theano-1.0.5", "pip-default"), prefix("aesara-2.8.7", "pip-default")
    place = tmp_path / "a venv"
    subprocess.run([base / "bin/python", "-m", "venv", "--without-pip", place], check=True)
    [site] = place.glob("lib/python*/site-packages")
    for source, names in ((base, "theano* Theano* scipy* six* pip*"), (newer, "numpy*")):
        [packages] = source.glob("lib/python*/site-packages")
        for path in (path for name in names.split() for path in packages.glob(name)):
            if path.is_dir():
                shutil.copytree(path, site / path.name)
            else:
                shutil.copyfile(path, site / path.name)
    # Theano does not import: for want of a name that NumPy has dropped, then of that of its BLAS.
    variables = {"HOME": str(home)}
    for reason in ("`np.bool`", "'blas_opt_info'"):
        done = subprocess.run(
            [place / "bin/python", SUITE],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
        variables = applied(done.stderr.partition("  fix: ")[2].strip(), variables, home)
    assert checked(place, "settings", expect=None, **variables)[0].status == "pass"
