"""What killed processes leave is collected, and nothing else."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments import in_use
from stacks.environments.care import leftovers
from stacks.environments.care.clean import clean

DAY = 24 * 3600.0
# Each is a folder if it ends in a slash.
LEFT = (
    ".sources.12345678.part/x",
    "packages/.0a1b.1_2345ab.part/0a1b/stage-x/tree/file",
    "packages/.gone.lock",
    "layers/.0a1b.12345678.part/",
    "bases/.0a1b.12345678.part/0a1b/base.tar",
    "wheels/.0a1b.12345678.part/0a1b/six.whl",
    "wheels/.gone.lock",
    "unpacked/.numpy-1.13.3-py27_0AmSYnZ/lib/file",
    "unpacked/gone-1.0-0.lock",
    "sources/sha256/0a/0a1b/old.deb.part",
    "sources/sha256/0a/0a1b/.gone.deb.lock",
    "sources/unpinned/old.whl",
)
KEPT = (
    "packages/0a1b/small.conda",
    "packages/.0a1b.lock",
    "packages/.0a1b/file",
    "unpacked/.cache.lock",
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
LOCKER = """
import sys
from pathlib import Path
from stacks.core.disk import hold_lock
with hold_lock(Path(sys.argv[1]), "it"):
    print("held", flush=True)
    sys.stdin.readline()
"""
HOLDER = """
import sys
from pathlib import Path
from stacks.core import disk
with disk.scratch() as folder, disk.replace_atomically(Path(sys.argv[1])) as made:
    made.touch()
    print(folder, flush=True)
    sys.stdin.readline()
"""


def fill(root: Path, names: tuple[str, ...]) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.write_text("123")


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def filled(own_workspace: Workspace) -> Workspace:
    """Give a workspace with leftovers of every kind in the cache and in build/."""
    fill(own_workspace.cache, (*LEFT, *KEPT))
    fill(own_workspace.build, (*LEFT_IN_BUILD, *KEPT_IN_BUILD))
    old = time.time() - 8 * DAY
    for path in own_workspace.cache.glob("sources/**/old*"):
        os.utime(path, (old, old))
    return own_workspace


@pytest.fixture(autouse=True)
def scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a TMPDIR of the test's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_leftovers_are_collected_and_counted(
    filled: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    leftovers.collect(filled, ("build", "cache"))
    assert files(filled.cache) == {*KEPT, ".lock"}
    assert files(filled.build) == set(KEPT_IN_BUILD)
    assert not list(filled.cache.glob("*/.*.part/*/stage-*"))
    first, second = capsys.readouterr().err.splitlines()
    left = "removed what interrupted or killed programs left in"
    assert first == f"{left} {filled.cache}: 8 entries, 0.0 MB"
    assert second == f"{left} {filled.build}: 6 entries, 0.0 MB"
    leftovers.collect(filled, ("build", "cache"))
    assert capsys.readouterr().err == ""


def test_only_the_areas_of_a_task_are_collected(filled: Workspace) -> None:
    leftovers.collect(filled, ("cache",))
    assert files(filled.build) == {
        name for name in (*LEFT_IN_BUILD, *KEPT_IN_BUILD) if not name.endswith("/")
    }


@pytest.fixture
def user(filled: Workspace) -> Iterator[subprocess.Popen[str]]:
    """Give a process that uses the cache."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom stacks.environments import in_use\n"
        "in_use.hold_shared(Path(sys.argv[1]))\nprint('held', flush=True)\nsys.stdin.readline()"
    )
    with process(program, in_use.lock_of_cache(filled)) as running:
        assert running.stdout and running.stdout.readline() == "held\n"
        yield running
        running.communicate("\n")


def process(program: str, path: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program, str(path)]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=REPOSITORY)


def test_a_cache_in_use_stays_as_it_is(filled: Workspace, user: subprocess.Popen[str]) -> None:
    before = files(filled.cache)
    leftovers.collect(filled, ("cache",))
    assert files(filled.cache) == before


def test_a_running_process_keeps_its_temporary_folders_and_a_killed_one_does_not(
    own_workspace: Workspace, scratch_folder: Path
) -> None:
    target = own_workspace.cache / "packages/0a1b"
    with process(HOLDER, target) as holder:
        assert holder.stdout
        folder = Path(holder.stdout.readline().strip())
        assert folder.parent == scratch_folder and folder.name.startswith("theano-stacks-scratch-")
        [part] = target.parent.glob(".0a1b.*.part")
        leftovers.collect(own_workspace, ("cache",))
        assert folder.is_dir() and part.is_dir()
        holder.send_signal(signal.SIGKILL)
    leftovers.collect(own_workspace, ("cache",))
    assert not folder.exists() and not part.exists()


def test_a_folder_of_the_killed_suite_is_removed(
    own_workspace: Workspace, scratch_folder: Path
) -> None:
    # As Python 2.7 and 3 name them.
    prefix = importlib.import_module("verify.core.scratch").PREFIX
    fill(scratch_folder, (f"{prefix}6BRZsK/file", f"{prefix}a_cdefg1/file"))
    leftovers.collect(own_workspace, ())
    assert not files(scratch_folder)


def test_links_are_not_followed(own_workspace: Workspace, scratch_folder: Path) -> None:
    outside = own_workspace.root.parent / "outside"
    fill(outside, ("file", ".x.12345678.part/file", "sub/.gone.lock"))
    packages = own_workspace.cache / "packages"
    packages.mkdir(parents=True)
    (packages / ".a.12345678.part").symlink_to(outside)
    (own_workspace.cache / "sources").mkdir()
    (own_workspace.cache / "sources/link").symlink_to(outside)
    (scratch_folder / "theano-stacks-scratch-12345679").symlink_to(outside)
    fill(packages, (".b.12345678.part/b/file",))
    (packages / ".b.12345678.part/b/link").symlink_to(outside)
    leftovers.collect(own_workspace, ("cache",))
    assert files(outside) == {"file", ".x.12345678.part/file", "sub/.gone.lock"}
    assert not (packages / ".b.12345678.part").exists()


@pytest.mark.parametrize(
    "name", ["theano-stacks-main", "theano-stacks-12345678", "theano-stacks-scratch-notes"]
)
def test_other_folders_in_tmpdir_stay(
    name: str, own_workspace: Workspace, scratch_folder: Path
) -> None:
    """A checkout, or the folder in which a running program compiles."""
    fill(scratch_folder, (f"{name}/file",))
    leftovers.collect(own_workspace, ("cache", "build"))
    assert (scratch_folder / name / "file").exists()


def test_a_lock_file_in_use_stays(own_workspace: Workspace) -> None:
    target = own_workspace.cache / "packages/0a1b"
    with process(LOCKER, target) as holder:
        assert holder.stdout and holder.stdout.readline()
        leftovers.collect(own_workspace, ("cache",))
        assert (target.parent / ".0a1b.lock").exists()
        holder.communicate("\n")
    leftovers.collect(own_workspace, ("cache",))
    assert not (target.parent / ".0a1b.lock").exists()


def test_a_clean_of_the_cache_counts_and_removes_leftovers(
    filled: Workspace, scratch_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(scratch_folder, ("theano-stacks-scratch-12345678/file", "other/file"))
    clean(filled, [], cache=True)
    left = "removed what interrupted or killed programs left in"
    # With the young download, which would resume.
    assert capsys.readouterr().err.splitlines() == [
        f"{left} {scratch_folder}: 1 entry, 0.0 MB",
        f"{left} {filled.cache}: 9 entries, 0.0 MB",
    ]
    assert {path.name for path in filled.cache.iterdir()} == {"mine"}
    assert files(scratch_folder) == {"other/file"}


def test_a_scan_of_a_large_cache_reads_no_package(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        fill(
            own_workspace.cache,
            (
                f"packages/{number}/a.conda",
                f"packages/.{number}.lock",
                f"sources/sha256/{number:02x}/{number}/a.deb",
                f"sources/sha256/{number:02x}/{number}/.a.deb.lock",
                f"unpacked/{number}/lib/file",
                f"unpacked/{number}.lock",
            ),
        )
    scanned: list[Path] = []

    def record(path: str) -> object:
        scanned.append(Path(path))
        return scandir(path)

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", record)
    assert not list(leftovers.in_cache(own_workspace))
    cache = own_workspace.cache
    shards = [cache / f"sources/sha256/{number:02x}" for number in range(30)]
    folders = [cache / name for name in leftovers.CACHE]
    pins = [shard / str(number) for number, shard in enumerate(shards)]
    assert sorted(scanned) == sorted([*folders, cache / "sources/sha256", *shards, *pins])
