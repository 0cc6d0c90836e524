"""The modules that environments bring, where no Theano is needed to try them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.environments import settings
from stacks.variants.variant import load_variant

PACKAGES = [{"name": "python", "version": "3.9.2", "sha256": "0" * 64, "manager": "conda"}]
SITE = settings.SITE[0].parent


@pytest.mark.parametrize(
    ("flavour", "framework", "there"),
    [
        ("openblas", "theano-1.0.5", settings.SITE),
        ("pip-openblas", "theano-0.8.2", settings.SITE),
        ("pip-default", "theano-1.0.5", ()),
        ("openblas", "pytensor-3.0.7", (settings.SCAN,)),
        ("pip-default", "pytensor-3.0.7", ()),
    ],
)
def test_who_has_the_modules(
    workspace: Workspace, tmp_path: Path, flavour: str, framework: str, there: tuple[Path, ...]
) -> None:
    variant = load_variant(workspace, flavour, framework)
    packages = tmp_path / f"lib/python{variant.framework.python}/site-packages"
    packages.mkdir(parents=True)
    settings.write(variant, tmp_path, tmp_path, list(PACKAGES))
    assert [each for each in settings.SITE if (packages / each.name).is_file()] == list(there)
    hook = (packages / f"{settings.HOOK}.py").read_text()
    assert ("theano_stacks_quick.watch()" in hook) == (settings.QUICK in there)


def started(folder: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python that has another Theano: a package of that name with nothing in it."""
    (folder / "theano").mkdir(exist_ok=True)
    (folder / "theano/__init__.py").write_text("print('imported')\n")
    path = os.pathsep.join([str(folder), str(SITE)])
    return subprocess.run(
        [sys.executable, "-B", "-c", f"import theano_stacks_quick as q; q.watch(); {code}"],
        env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


def test_another_theano_is_imported_once_and_used_as_it_is(tmp_path: Path) -> None:
    done = started(tmp_path, "import theano; import theano; print(theano.__file__)")
    assert done.stdout.splitlines() == ["imported", str(tmp_path / "theano/__init__.py")]
    assert done.stderr.startswith("theano_stacks_quick is not in force: ")
    assert done.stderr.count("\n") == 1


def test_nothing_is_imported_before_the_program_does(tmp_path: Path) -> None:
    assert started(tmp_path, "pass").stdout == ""


def test_a_spec_that_is_only_looked_up_is_theanos_own(tmp_path: Path) -> None:
    code = "from importlib.util import find_spec as f; print(f('theano').origin, f('no_such'))"
    assert started(tmp_path, code).stdout.split() == [str(tmp_path / "theano/__init__.py"), "None"]


def test_it_can_be_left_out(tmp_path: Path) -> None:
    done = started(tmp_path, "import theano", THEANO_STACKS_QUICK="0")
    assert (done.stdout, done.stderr) == ("imported\n", "")
