"""Patching Theano when it is imported, with another package of that name in its place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stacks.core.disk import REPOSITORY

SOURCES = REPOSITORY / "recipes/theano-stacks/src"


def run(folder: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code where Theano is another package of that name, an empty one."""
    (folder / "theano").mkdir(exist_ok=True)
    (folder / "theano/__init__.py").write_text("print('imported')\n")
    # The folder of the .pth file, as site-packages is.
    start = f"import site, sys; site.addsitedir({str(SOURCES)!r}); "
    start += f"sys.path.insert(0, {str(folder)!r}); "
    return subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", start + code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


def test_unknown_theano_is_imported_once_and_not_patched(tmp_path: Path) -> None:
    done = run(tmp_path, "import theano; import theano; print(theano.__file__)")
    assert done.stdout.splitlines() == ["imported", str(tmp_path / "theano/__init__.py")]
    assert done.stderr.startswith("theano_stacks_quick is not in force: ")
    assert done.stderr.count("\n") == 1


def test_watch_does_not_import_theano_nor_hide_its_own_spec(tmp_path: Path) -> None:
    code = "from importlib.util import find_spec as f; print(f('theano').origin, f('no_such'))"
    assert run(tmp_path, code).stdout.split() == [str(tmp_path / "theano/__init__.py"), "None"]


def test_patch_can_be_switched_off(tmp_path: Path) -> None:
    done = run(tmp_path, "import theano", THEANO_STACKS_QUICK="0")
    assert (done.stdout, done.stderr) == ("imported\n", "")
