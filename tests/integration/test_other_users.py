"""Programs of people who may not write to an environment: another user, without a home folder."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from integration.test_stack_places import USERS, as_user

PROGRAM = """\
import sys
framework = __import__(sys.argv[1])
x = framework.tensor.dmatrix()
print(framework.function([x], framework.tensor.dot(x, x) + 1)([[2.0]])[0, 0])
print(framework.config.base_compiledir)
"""
MODULES = {"theano-1.0.5": "theano", "theano-0.8.2": "theano"}


@pytest.fixture
def shared() -> Iterator[Path]:
    """Give a folder for all users: pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as other users")
@pytest.mark.parametrize("framework", MODULES)
def test_two_other_users_compile_in_folders_of_their_own(
    prefix: Callable[[str, str], Path], shared: Path, framework: str
) -> None:
    place = prefix(framework, "openblas")
    (shared / "home").mkdir(mode=0o555)
    homes = {USERS[0]: str(shared / "home"), USERS[1]: ""}
    processes = {
        user: subprocess.Popen(
            [*as_user(user), place / "bin/python", "-c", PROGRAM, MODULES[framework]],
            env={"TMPDIR": str(shared), **({"HOME": home} if home else {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for user, home in homes.items()
    }
    for user, process in processes.items():
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        value, folder = out.splitlines()
        assert value == "5.0"
        assert Path(folder).parent == shared / f"theano-stacks-{user}"
        assert {path.lstat().st_uid for path in Path(folder).rglob("*")} == {user}
