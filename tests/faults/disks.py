"""Full disks: a small file system for the cache, the environments or the temporary folder."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.builds import PREPARED
from faults.plan import Plan
from faults.room import needs_root
from faults.trees import remove
from faults.trial import Trial

MEGABYTE = 1 << 20


@contextmanager
def small_disk(path: Path, size: int) -> Iterator[None]:
    """Put a tmpfs of a size in bytes over a folder for the block, with the folder's files."""
    aside = path.with_name(f"{path.name}.aside")
    path.mkdir(exist_ok=True, parents=True)
    path.rename(aside)
    path.mkdir()
    mount("-t", "tmpfs", "-o", "size=1g", "tmpfs", str(path))
    try:
        subprocess.run(["cp", "-a", f"{aside}/.", path], check=True)
        remove(aside)
        used = int(subprocess.check_output(["du", "-s", "-B1", path]).split()[0])
        mount("-o", f"remount,size={used + size}", str(path))
        yield
        mount("-o", "remount,size=1g", str(path))
        subprocess.run(["cp", "-a", path, aside], check=True)
    finally:
        subprocess.run(["umount", path], check=True)
    path.rmdir()
    aside.rename(path)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def play(trial: Trial) -> None:
    """Make an environment on a disk with too little room, then with enough."""
    room, random = trial.room, trial.random
    state = random.choice(sorted(PREPARED))
    PREPARED[state](room)
    variant = random.choice(("by-conda", "by-pip"))
    if random.random() < 0.25:
        size = int(10 ** random.uniform(2.5, 6.8))
        trial.tell(f"{variant}, {state}, with no file above {size} bytes")
        done = room.run("make", "--variant", variant, plan=Plan(file_size=size))
        room.check_result(done, variant)
        room.check_undisturbed(variant)
        return
    if reason := needs_root():
        pytest.skip(reason)
    folder = random.choice((room.cache, room.root / "build", room.temporary))
    size = int(10 ** random.uniform(3.5, 7.7))
    trial.tell(f"{variant}, {state}, {size} bytes free at {folder.relative_to(room.base)}")
    try:
        with small_disk(folder, size):
            done = room.run("make", "--variant", variant)
            if done.status:
                room.check_error(done, str(folder), folder.name, "TMPDIR", "space")
    except subprocess.CalledProcessError as error:
        if error.cmd[0] != "mount":
            raise
        pytest.skip("this machine mounts no tmpfs")
    room.check_result(done, variant)
    room.check_undisturbed(variant)
