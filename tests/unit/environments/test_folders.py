"""Where environments and reports are, whether one is ready, and that what is used stays.

What a process uses, another does not remove: real processes, checked by what they print.
"""

import dataclasses
import shutil
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import READY, InUseError, folder_of, read_report, report_path
from stacks.locks.lock import Lock
from stacks.sources.pins import LockedPackage
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import mark_built
from unit.helpers.processes import read_line, started

LOCK = Lock(())
PACKAGE = LockedPackage("six", "1", "0", "u/noarch/six-1-0.conda", "1" * 64, "0" * 32, 1)


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    """Give a checkout with copies of envs/."""
    own_workspace.envs.unlink()
    shutil.copytree(REPOSITORY / "envs", own_workspace.envs)
    return own_workspace


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas")


def test_the_folders_of_a_variant(workspace: Workspace, variant: Variant) -> None:
    reports = workspace.root / "build/reports/theano-1.0.5"
    assert report_path(workspace, variant) == reports / "openblas.json"
    assert folders.workload_reports(workspace, variant) == reports / "workloads/openblas"
    assert folder_of(workspace, variant) == workspace.build / "prefixes/theano-1.0.5/openblas"
    # An unreadable report counts as missing.
    (reports).mkdir(parents=True)
    for content in (None, b"", b"[]", b"{", b"\xff"):
        if content is not None:
            (reports / "openblas.json").write_bytes(content)
        assert read_report(workspace, variant) is None
    (reports / "openblas.json").write_text('{"ok": true}')
    assert read_report(workspace, variant) == {"ok": True}


def test_a_summary_is_no_change_of_an_environment_and_a_flag_is(
    workspace: Workspace, variant: Variant
) -> None:
    target, flavour = mark_built(workspace, variant), workspace.envs / "variants/openblas.yaml"
    for path in (flavour, workspace.envs / "frameworks/theano-1.0.5.yaml"):
        path.write_text(path.read_text().replace("summary: ", "summary: other "))
    assert folders.ready_environment(workspace, "openblas", None)[1] == target
    flavour.write_text(f"{flavour.read_text()}flags: {{optimizer: fast_run}}\n")
    with pytest.raises(StaleError):
        folders.ready_environment(workspace, "openblas", None)


def test_an_environment_that_is_not_built(workspace: Workspace, variant: Variant) -> None:
    with pytest.raises(UsageError, match=r"openblas is not built\n.*--variant openblas"):
        folders.ready_environment(workspace, "openblas", None)
    ready = mark_built(workspace, variant) / READY
    for content, reason in (
        ('{"key": "1", "local": null}', "from its current lock"),
        ("{", "comp"),
    ):
        ready.write_text(content)
        with pytest.raises(UsageError, match="is not built " + reason):
            folders.ready_environment(workspace, "openblas", None)


def test_what_a_key_depends_on(workspace: Workspace, variant: Variant) -> None:
    def key(variant: Variant = variant, lock: Lock = LOCK, place: str = "/a") -> str:
        return folders.key_of(workspace, variant, lock, Path(place))

    changed = variant.model_copy(update={"flags": {"x": "y"}})
    locked = dataclasses.replace(LOCK, packages=(PACKAGE,))
    keys = {key(), key(place="/b"), key(lock=locked), key(changed)}
    assert len(keys) == 4 and key() in keys


def test_the_marker_of_an_environment_has_its_key_and_the_users_packages(tmp_path: Path) -> None:
    (tmp_path / READY).parent.mkdir(parents=True)
    for marker in (None, b"", b"[]", b"null", b'{"key": 1}', b"\xff"):
        if marker is not None:
            (tmp_path / READY).write_bytes(marker)
        assert folders.key_in(tmp_path) is None and not folders.is_made(tmp_path, "key", {})
    (tmp_path / READY).write_text(folders.mark("key", {"amdlibm": "1" * 64}))
    assert folders.is_made(tmp_path, "key", {"amdlibm": "1" * 64})
    for key, own in (("key", {"amdlibm": "2" * 64}), ("key", {}), ("a", {"amdlibm": "1" * 64})):
        assert not folders.is_made(tmp_path, key, own)


def test_a_built_environment_is_given_by_its_marker(
    workspace: Workspace, variant: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    assert folders.built_environment(workspace, variant) is None
    target = mark_built(workspace, variant)
    assert folders.built_environment(workspace, variant) == target
    assert capsys.readouterr().err == f"openblas on theano-1.0.5\n  ready    {target}\n"
    (target / READY).write_text('{"key": "of another lock", "local": null}')
    assert folders.built_environment(workspace, variant) is None
    # Whether AMD's own library is in an environment, only its build can tell.
    amdlibm = load_variant(workspace, "mkl-amdlibm")
    mark_built(workspace, amdlibm)
    assert folders.built_environment(workspace, amdlibm) is None


PROGRAM = """
import sys
from pathlib import Path
from stacks.environments import folders
from stacks.environments.use import run
lock = Path(sys.argv[-1])
"""
WAIT = "print('held', flush=True)\nsys.stdin.readline()\n"
USER = f"{PROGRAM}folders.hold_shared(lock)\nfolders.hold_shared(lock)\n{WAIT}"
RUNNER = f"""{PROGRAM}
folders.hold_shared(lock)
run._replace_by(["cat"], {{"PATH": "/usr/bin:/bin"}}, "a fix")
"""
CLEANER = f"{PROGRAM}with folders.hold_exclusive(lock, 'it'):\n    {WAIT.replace(chr(10), ';')}"


def refusal(lock: Path) -> InUseError:
    with pytest.raises(InUseError) as caught, folders.hold_exclusive(lock, "it"):
        pass
    return caught.value


def test_a_folder_in_use_is_not_removed(tmp_path: Path) -> None:
    lock = tmp_path / "new/lock"
    with started(USER, "first", lock) as first:
        assert read_line(first) == "held\n"
        with started(USER, "second", lock) as second:
            assert read_line(second) == "held\n"
            found = str(refusal(lock).found)
            assert f"process {first.pid}: " in found and f"process {second.pid}: " in found
            assert "first" in found and "; process" in found and "\n" not in found
            first.communicate("\n")
            assert str(refusal(lock).found).startswith(f"process {second.pid}: ")
            second.kill()
    with folders.hold_exclusive(lock, "it"):
        assert lock.exists()
    assert not lock.exists()


def test_a_program_that_takes_the_place_of_a_user_uses_it_too(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with started(RUNNER, lock) as user:
        assert user.stdin
        user.stdin.write("cat\n")
        user.stdin.flush()
        assert read_line(user) == "cat\n"
        error = refusal(lock)
        assert str(error.found).startswith(f"process {user.pid}: ")
        assert error.what == "it is in use: nothing was removed"
        user.communicate()
    with folders.hold_exclusive(lock, "it"):
        pass


def test_users_wait_for_a_removal_to_end_and_name_one_that_does_not(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with started(CLEANER, lock) as cleaner:
        assert read_line(cleaner) == "held\n"
        assert f"process {cleaner.pid}: " in str(refusal(lock).found), "two cleans at once"
        with pytest.raises(InUseError) as caught:
            folders.hold_shared(lock, limit=0.1)
        assert str(caught.value.found).startswith(f"process {cleaner.pid}: ")
        assert caught.value.expected == "a removal that ends within 0.1 s"
        with started(USER, lock) as user:
            assert user.stderr
            holder = f"waiting: what this uses is being removed by process {cleaner.pid}: "
            assert user.stderr.readline().startswith(holder)
            cleaner.communicate("\n")
            assert read_line(user) == "held\n"
            # The file that it waited for is gone: it holds the one by that name now.
            assert f"process {user.pid}: " in str(refusal(lock).found)
            user.communicate("\n")
            assert (cleaner.returncode, user.returncode) == (0, 0)


def test_no_lock_is_held_where_it_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folders.hold_shared(tmp_path / "file/lock")
    assert not (tmp_path / "file/lock").exists()
