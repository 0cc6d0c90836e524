"""Users who may not write to a checkout, an environment or a folder, and two users at once."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from integration.conftest import Prefix
from integration.programs import opened
from integration.tiny import Tiny, as_user, obeying
from stacks.core.disk import REPOSITORY

MINE = "summary: mine\nextends: by-conda\nframework: tiny\npip: [decorator==4.4.2]\n"
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
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can start programs as other users"
)


def start(
    words: Sequence[str | Path], wrapper: Sequence[str], **variables: str
) -> subprocess.Popen[str]:
    return opened([*wrapper, *words], env=variables)


def build(
    tiny: Tiny, cache: Path, folder: Path, temporary: Path, wrapper: Sequence[str]
) -> subprocess.Popen[str]:
    """Start to lock and make the environment of a new stack in a folder."""
    temporary.mkdir(exist_ok=True)
    words: list[str | Path] = [sys.executable, "-c", BUILDING]
    words += [tiny.root, cache, folder / "stack.yaml"]
    variables = {"PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    variables |= {"THEANO_STACKS_CACHE": str(cache), "TMPDIR": str(temporary)}
    return start(words, wrapper, **{**os.environ, **variables})


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


@pytest.fixture
def shared() -> Iterator[Path]:
    """Give a folder for all users: pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        yield Path(name)


def test_a_checkout_that_is_read_only(checkout: Tiny, tmp_path: Path) -> None:
    folder = tmp_path / "my prøject"
    folder.mkdir()
    (folder / "stack.yaml").write_text(MINE)
    process = build(checkout, tmp_path / "cache", folder, tmp_path / "temporary", obeying())
    out, err = process.communicate()
    assert process.returncode == 0, err
    place = folder / "stack.build/environment"
    assert out.splitlines()[-1] == str(place)
    program = "import decorator; print(decorator.__version__)"
    version = subprocess.check_output([place / "bin/python", "-c", program], text=True)
    assert version.strip() == "4.4.2"


def test_an_environment_for_a_read_only_checkout_is_refused_at_once(
    checkout: Tiny, tmp_path: Path
) -> None:
    code = BUILDING.replace("build.relock(workspace, variant)\n", "")
    words: list[str | Path] = [sys.executable, "-c", code, checkout.root]
    words += [tmp_path / "cache", "tiny/by-conda"]
    variables = {"PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    _, err = start(words, obeying(), **{**os.environ, **variables}).communicate()
    assert ": Permission denied\n" in err
    assert "  lock " in err and "  channel " not in err


@needs_root
def test_two_users_of_one_checkout_at_once(checkout: Tiny, tmp_path: Path, shared: Path) -> None:
    processes = {}
    for user in USERS:
        home = shared / str(user)
        (home / "model").mkdir(parents=True)
        (home / "model/stack.yaml").write_text(MINE)
        shutil.copytree(tmp_path / "cache", home / "cache", symlinks=True)
        for path in (home, *home.rglob("*")):
            os.lchown(path, user, user)
        words = (checkout, home / "cache", home / "model", shared)
        processes[user] = build(*words, as_user(user))
    for user, process in processes.items():
        _, err = process.communicate()
        assert process.returncode == 0, err
        assert {owner for owner, _ in tree(shared / str(user)).values()} == {user}
    locks = [shared / str(user) / "model/stack.lock/requirements.txt" for user in USERS]
    assert locks[0].read_bytes() == locks[1].read_bytes()


PROGRAM = """\
import theano
x = theano.tensor.dmatrix()
print(theano.function([x], theano.tensor.dot(x, x) + 1)([[2.0]])[0, 0])
print(theano.config.base_compiledir)
"""


@needs_root
@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_two_other_users_compile_in_folders_of_their_own(
    prefix: Prefix, shared: Path, framework: str
) -> None:
    words: list[str | Path] = [prefix(framework, "openblas") / "bin/python", "-c", PROGRAM]
    (shared / "home").mkdir(mode=0o555)
    # The second has no home.
    homes = {USERS[0]: {"HOME": str(shared / "home")}, USERS[1]: {}}
    processes = {
        user: start(words, as_user(user), TMPDIR=str(shared), **home)
        for user, home in homes.items()
    }
    for user, process in processes.items():
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        value, folder = out.splitlines()
        assert value == "5.0"
        assert Path(folder).parent == shared / f"theano-stacks-{user}"
        assert {path.lstat().st_uid for path in Path(folder).rglob("*")} == {user}


@pytest.mark.parametrize("folder", ["cache", "prefixes"])
def test_a_folder_without_write_permission(tiny: Tiny, folder: str) -> None:
    place = tiny.root / folder
    place.mkdir(exist_ok=True)
    place.chmod(0o555)
    try:
        builder = tiny.builder("by-pip", wrapper=obeying())
        _, error = builder.communicate()
    finally:
        place.chmod(0o755)
    assert builder.returncode == 1 and "Traceback" not in error, error
    assert f"{place}" in error and "Permission denied" in error
    assert ("THEANO_STACKS_CACHE" in error) == (folder == "cache")
    assert not tiny.place("by-pip").exists()
