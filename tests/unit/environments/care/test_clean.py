"""A clean removes what it names; what killed processes leave is collected, and nothing else."""

import importlib
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.care import clean
from stacks.environments.folders import (
    InUseError,
    folder_of,
    folder_of_stack,
    hold_exclusive,
    report_path,
    workload_reports,
)
from stacks.variants.load import load_variant
from unit.helpers.processes import read_line, started

DAY = 24 * 3600.0
# Each is a folder if it ends in a slash.
LEFT = (
    ".sources.12345678.part/x",
    "packages/.0a1b.1_2345ab.part/0a1b/stage-x/tree/file",
    "packages/.gone.lock",
    "layers/.0a1b.12345678.part/",
    "bases/.0a1b.12345678.part/0a1b/base.tar",
    "wheels/.0a1b.12345678.part/0a1b/six.whl",
    "unpacked/.new.12345678.part/numpy/lib/file",
    "sources/sha256/0a/0a1b/old.deb.part",
    "sources/sha256/0a/0a1b/.gone.deb.lock",
    "sources/unpinned/old.whl",
)
KEPT = (
    "packages/0a1b/small.conda",
    "packages/.0a1b.lock",
    "packages/.0a1b/file",
    "unpacked/numpy-1.13.3-py27_0/.hidden/.x.12345678.part/file",
    "unpacked/numpy-1.13.3-py27_0.lock",
    ".unpacked.lock",
    "sources/sha256/0a/0a1b/young.deb.part",
    "sources/sha256/0a/0a1b/whole.deb",
    "modules/.x.12345678.part/file",
    "mine/.x.12345678.part/file",
    "mine/.gone.lock",
)
LEFT_IN_BUILD = (
    ".channel.12345678.part/channel/file",
    "reproduce-12345678/file",
    "prefixes/tiny/.by-pip.12345678.part/by-pip/file",
    "prefixes/tiny/.gone.used",
    "reports/tiny/.by-pip.json.12345678.part/by-pip.json",
    "reports/tiny/workloads/by-pip/.ntm.json.12345678.part/",
    "images/tiny/.by-pip.12345678.part/",
    "cluster/.worker.lock",
)
KEPT_IN_BUILD = (
    "prefixes/tiny/by-pip/.x.12345678.part/file",
    "prefixes/tiny/.by-pip.lock",
    "prefixes/tiny/.by-pip.used",
    "channel/noarch/file.part",
)
# A checkout, or the folder in which a running program compiles.
KEPT_IN_TMPDIR = (
    "theano-stacks-main/file",
    "theano-stacks-12345678/file",
    "theano-stacks-scratch-notes/file",
    "other/file",
)
# Programs that hold something until they read a line.
PROGRAM = "import sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n"
USER = f"{PROGRAM}from stacks.environments import folders\nfolders.hold_shared(path)\n"
USER += "print('held', flush=True)\nsys.stdin.readline()"
LOCKER = f"{PROGRAM}from stacks.core.disk import hold_lock\nwith hold_lock(path, 'it'):\n    "
LOCKER += "print('held', flush=True)\n    sys.stdin.readline()"
HOLDER = f"{PROGRAM}from stacks.core import disk\nwith disk.tmp_folder() as folder, "
HOLDER += "disk.replace_atomically(path) as made:\n    made.touch()\n    "
HOLDER += "print(folder, flush=True)\n    sys.stdin.readline()"
NOTE = "removed what interrupted or killed programs left in"


def fill(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.write_text("123")


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    return own_workspace


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    """Give a workspace with leftovers of every kind in the cache and in build/."""
    fill(workspace.cache, *LEFT, *KEPT)
    fill(workspace.build, *LEFT_IN_BUILD, *KEPT_IN_BUILD)
    old = time.time() - 8 * DAY
    for path in workspace.cache.glob("sources/**/old*"):
        os.utime(path, (old, old))
    return workspace


@pytest.fixture(autouse=True)
def scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a TMPDIR of the test's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_leftovers_are_collected_and_counted(
    filled: Workspace, scratch_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of the killed suite, as Python 2.7 and 3 name them.
    prefix = importlib.import_module("verify.core.program").FOLDER_PREFIX
    fill(scratch_folder, f"{prefix}6BRZsK/file", f"{prefix}a_cdefg1/file", *KEPT_IN_TMPDIR)
    before = files(filled.build)
    clean.collect(filled, ("cache",))
    assert files(filled.cache) == {*KEPT, ".lock"}
    assert files(scratch_folder) == set(KEPT_IN_TMPDIR)
    assert files(filled.build) == before
    clean.collect(filled, ("build", "cache"))
    assert files(filled.build) == set(KEPT_IN_BUILD)
    assert capsys.readouterr().err.splitlines() == [
        f"{NOTE} {scratch_folder}: 2 entries",
        f"{NOTE} {filled.cache}: 8 entries",
        f"{NOTE} {filled.build}: 6 entries",
    ]
    clean.collect(filled, ("build", "cache"))
    assert capsys.readouterr().err == ""


def test_a_cache_in_use_stays_as_it_is(filled: Workspace) -> None:
    with started(USER, folders.lock_of_cache(filled)) as user:
        assert read_line(user) == "held\n"
        before = files(filled.cache)
        clean.collect(filled, ("cache",))
        assert files(filled.cache) == before
        user.communicate("\n")


def test_a_running_process_keeps_its_temporary_folders_and_a_killed_one_does_not(
    workspace: Workspace, scratch_folder: Path
) -> None:
    target = workspace.cache / "packages/0a1b"
    with started(HOLDER, target) as holder:
        folder = Path(read_line(holder).strip())
        assert folder.parent == scratch_folder and folder.name.startswith("theano-stacks-scratch-")
        [part] = target.parent.glob(".0a1b.*.part")
        clean.collect(workspace, ("cache",))
        assert folder.is_dir() and part.is_dir()
        holder.send_signal(signal.SIGKILL)
    clean.collect(workspace, ("cache",))
    assert not folder.exists() and not part.exists()


def test_a_lock_file_in_use_stays(workspace: Workspace) -> None:
    target = workspace.cache / "packages/0a1b"
    with started(LOCKER, target) as holder:
        assert read_line(holder)
        clean.collect(workspace, ("cache",))
        assert (target.parent / ".0a1b.lock").exists()
        holder.communicate("\n")
    clean.collect(workspace, ("cache",))
    assert not (target.parent / ".0a1b.lock").exists()


def test_links_are_not_followed(workspace: Workspace, scratch_folder: Path) -> None:
    outside = workspace.root.parent / "outside"
    names = ("file", ".x.12345678.part/file", "b/c/.gone.lock", "b/c/old.part")
    fill(outside, *names)
    os.utime(outside / "b/c/old.part", (0, 0))
    packages = workspace.cache / "packages"
    fill(packages, ".b.12345678.part/b/file")
    (workspace.cache / "sources").mkdir()
    for link in (
        packages / ".a.12345678.part",
        packages / ".b.12345678.part/b/link",
        workspace.cache / "sources/link",
        scratch_folder / "theano-stacks-scratch-12345679",
    ):
        link.symlink_to(outside)
    clean.collect(workspace, ("cache",))
    assert files(outside) == set(names)
    assert not (packages / ".b.12345678.part").exists()


def test_a_clean_of_the_cache_leaves_other_folders_and_no_leftovers(
    filled: Workspace, scratch_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(scratch_folder, "theano-stacks-scratch-12345678/file", "other/file")
    clean.clean(filled, [], cache=True)
    assert capsys.readouterr().err.splitlines() == [
        f"{NOTE} {scratch_folder}: 1 entry",
        f"{NOTE} {filled.cache}: 1 entry",
    ]
    assert {path.name for path in filled.cache.iterdir()} == {"mine"}
    assert files(scratch_folder) == {"other/file"}
    fill(scratch_folder, "theano-stacks-scratch-12345678/file")
    clean.clean(filled, [], cache=True)
    assert capsys.readouterr().out == ""
    clean.clean(filled, [], cache=True)
    assert capsys.readouterr().out.splitlines()[-1] == "nothing to remove"


def test_a_clean_of_one_variant_leaves_the_others(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("openblas", "pip-default"):
        (workspace.environments / "theano-1.0.5" / name).mkdir(parents=True)
    variant = load_variant(workspace, "openblas")
    workload_reports(workspace, variant).mkdir(parents=True)
    report_path(workspace, variant).write_text("{}")
    clean.clean(workspace, [variant], cache=False)
    assert [p.name for p in (workspace.environments / "theano-1.0.5").iterdir()] == ["pip-default"]
    assert capsys.readouterr().out.splitlines() == [
        f"removing {workspace.build}/prefixes/theano-1.0.5/openblas",
        f"removing {workspace.build}/reports/theano-1.0.5/openblas.json",
        f"removing {workspace.build}/reports/theano-1.0.5/workloads/openblas",
    ]
    # A first build has its lock before its folder.
    lock = folders.lock_of(folder_of(workspace, variant))
    with hold_exclusive(lock, "it"), pytest.raises(InUseError, match="/openblas"):
        clean.clean(workspace, [variant], cache=False)


def test_a_clean_that_is_interrupted_leaves_nothing_half_removed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant, remove = load_variant(workspace, "openblas"), shutil.rmtree
    folder = folder_of(workspace, variant)
    fill(folder, "bin/python", folders.READY)

    def interrupted(path: Path) -> None:
        monkeypatch.setattr(shutil, "rmtree", remove)
        assert not folder.exists() and (path / "bin/python").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clean.clean(workspace, [variant], cache=False)
    assert files(workspace.environments) <= {"theano-1.0.5/.openblas.used"}


def test_a_linked_folder_is_emptied_and_its_link_stays(
    workspace: Workspace, tmp_path: Path
) -> None:
    fill(tmp_path, "large/theano-1.0.5/openblas/", "data/mine", "build/x")
    (tmp_path / "large/data").symlink_to(tmp_path / "data")
    workspace.build.symlink_to(tmp_path / "build")
    (workspace.build / "prefixes").symlink_to(tmp_path / "large")
    clean.clean(workspace, None, cache=False)
    assert (tmp_path / "large").is_dir() and not any((tmp_path / "large").iterdir())
    assert (tmp_path / "data/mine").is_file()


def test_a_clean_of_a_stack_removes_its_copies_on_other_flavours_unless_in_use(
    workspace: Workspace, tmp_path: Path
) -> None:
    text = "summary: mine\nextends: {}\nframework: theano-1.0.5\n"
    copy = tmp_path / "stack.build/flavours/mkl"
    (copy / "stack.build/environment").mkdir(parents=True)
    # Of a flavour that was removed since.
    (copy / "stack.yaml").write_text(text.format("gone"))
    (tmp_path / "stack.yaml").write_text(text.format("openblas"))
    stack = load_variant(workspace, str(tmp_path))
    lock = folders.lock_of(folder_of_stack(copy / "stack.yaml"))
    with hold_exclusive(lock, "it"), pytest.raises(InUseError, match="flavours/mkl"):
        clean.clean(workspace, [stack], cache=False)
    assert copy.exists()
    clean.clean(workspace, [stack], cache=False)
    assert not copy.parent.exists()
    assert (tmp_path / "stack.yaml").exists()
