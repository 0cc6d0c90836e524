"""People who may not write to a checkout or an environment, and two users at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from integration.conftest import Prefix
from integration.tiny import Tiny, obeying
from stacks.core.disk import REPOSITORY

MINE = "summary: mine\nextends: {}\nframework: tiny\npip: [decorator==4.4.2]\n"
# Locks and makes the environment of the stack.yaml STACK in the checkout ROOT.
BUILDING = """
import sys
from pathlib import Path
from stacks.core.workspace import Workspace
from stacks.environments.care import clean
from stacks.environments.make import build
from stacks.variants.load import load_variant
root, cache, file = sys.argv[1:]
workspace = Workspace(Path(root), Path(cache))
clean.collect(workspace, ("build", "cache"))
variant = load_variant(workspace, file)
build.relock(workspace, variant)
print(build.make_environment(workspace, variant))
"""
USERS = (65533, 65534)


def as_user(user: int) -> tuple[str, ...]:
    """Return the words that run a program as a user who may read all, to run this Python."""
    return (
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
        "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
    )  # fmt: skip


def start(
    tiny: Tiny, cache: Path, file: Path, temporary: Path, wrapper: Sequence[str] = ()
) -> subprocess.Popen[str]:
    temporary.mkdir(exist_ok=True)
    return subprocess.Popen(
        [*wrapper, sys.executable, "-c", BUILDING, str(tiny.root), str(cache), str(file)],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONDONTWRITEBYTECODE": "1",
            "THEANO_STACKS_CACHE": str(cache),
            "TMPDIR": str(temporary),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def tree(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return owner and time of all in a folder."""
    return {path: (path.lstat().st_uid, path.lstat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.fixture
def checkout(tiny: Tiny, tmp_path: Path) -> Iterator[Tiny]:
    """Give a checkout in which nothing may be written; its cache lies elsewhere."""
    shutil.move(tiny.cache, tmp_path / "cache")
    folders = [tiny.root, *(path for path in tiny.root.rglob("*") if path.is_dir())]
    own = [path for path in folders if not path.is_symlink()]
    for path in own:
        path.chmod(0o555)
    before = tree(tiny.root)
    try:
        yield tiny
        assert tree(tiny.root) == before
    finally:
        for path in own:
            path.chmod(0o755)


def test_a_checkout_that_is_read_only(checkout: Tiny, tmp_path: Path) -> None:
    file = tmp_path / "my prøject/stack.yaml"
    file.parent.mkdir()
    file.write_text(MINE.format("by-conda"))
    process = start(checkout, tmp_path / "cache", file, tmp_path / "temporary", obeying())
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert out.splitlines()[-1] == str(file.with_suffix(".build") / "environment")
    python = file.with_suffix(".build") / "environment/bin/python"
    program = "import decorator; print(decorator.__version__)"
    assert subprocess.check_output([python, "-c", program], text=True).strip() == "4.4.2"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as other users")
def test_two_users_of_one_checkout_at_once(checkout: Tiny, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        # pytest's own folders are closed to other users.
        shared = Path(name)
        shared.chmod(0o755)
        processes = {}
        for user in USERS:
            home = shared / str(user)
            file = home / "model/stack.yaml"
            file.parent.mkdir(parents=True)
            file.write_text(MINE.format("by-conda"))
            shutil.copytree(tmp_path / "cache", home / "cache", symlinks=True)
            for path in (home, *home.rglob("*")):
                os.lchown(path, user, user)
            processes[user] = start(checkout, home / "cache", file, shared, as_user(user))
            shared.chmod(0o1777)
        for user, process in processes.items():
            _, err = process.communicate()
            assert process.returncode == 0, err
            owners = {owner for owner, _ in tree(shared / str(user)).values()}
            assert owners == {user}
        locks = [shared / str(user) / "model/stack.lock/requirements.txt" for user in USERS]
        assert locks[0].read_bytes() == locks[1].read_bytes()


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
    prefix: Prefix, shared: Path, framework: str
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
